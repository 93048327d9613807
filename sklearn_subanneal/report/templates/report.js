"use strict";
// Without this script the page has all texts, tables and pictures; it adds sorting, searching and the choice of columns.
(() => {
  const NUMBER = /^[<>~\s]*([-+\u2212]?[\d,]*\.?\d+(?:e[-+]?\d+)?)/i;
  const COLLATOR = new Intl.Collator(undefined, { numeric: true, sensitivity: "base" });
  const MOST_CHARTS = 24;

  function numberOf(text) {
    const found = NUMBER.exec(text);
    return found ? parseFloat(found[1].replaceAll(",", "").replace("\u2212", "-")) : NaN;
  }

  function sortTable(table, column, head) {
    const isDown = head.getAttribute("aria-sort") === "ascending";
    for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", isDown ? "descending" : "ascending");
    const isNumber = head.classList.contains("number");
    const rows = [...table.tBodies[0].rows].map((row) => {
      const text = row.cells[column].textContent;
      return { row, key: isNumber ? numberOf(text) : text };
    });
    // Cells without a number are the last ones, whichever the order.
    rows.sort((one, other) => {
      if (isNumber && (isNaN(one.key) || isNaN(other.key))) return isNaN(one.key) - isNaN(other.key);
      const order = isNumber ? one.key - other.key : COLLATOR.compare(one.key, other.key);
      return isDown ? -order : order;
    });
    table.tBodies[0].append(...rows.map((own) => own.row));
  }

  for (const table of document.querySelectorAll("table[data-sorted]")) {
    [...table.tHead.rows[0].cells].forEach((head, column) => {
      const button = document.createElement("button");
      button.type = "button";
      button.title = "Sort by this column";
      button.append(...head.childNodes);
      head.append(button);
      button.addEventListener("click", () => sortTable(table, column, head));
    });
  }

  for (const block of document.querySelectorAll(".table")) {
    const tools = block.querySelector(".tools");
    if (!tools) continue;
    tools.hidden = false;
    const input = tools.querySelector("input");
    const rows = [...block.querySelectorAll("tbody tr")];
    input.addEventListener("input", () => {
      const wanted = input.value.trim().toLowerCase();
      let shown = 0;
      for (const row of rows) {
        row.hidden = !row.textContent.toLowerCase().includes(wanted);
        shown += !row.hidden;
      }
      tools.querySelector("output").textContent = wanted ? `${shown} of ${rows.length} rows` : "";
    });
  }

  // Tables and pictures that are wider than the page say so; others need no stop of the tab key.
  const watch = new ResizeObserver((entries) => {
    for (const { target } of entries) {
      const box = target.closest(".scroll") || target;
      const isWide = box.scrollWidth > box.clientWidth + 1;
      box.classList.toggle("wide", isWide);
      if (isWide || box.scrollHeight > box.clientHeight + 1) box.tabIndex = 0;
      else box.removeAttribute("tabindex");
      const cue = box.parentElement.querySelector(":scope > .cue");
      if (cue) cue.hidden = !isWide;
    }
  });
  for (const box of document.querySelectorAll(".scroll")) watch.observe(box);

  const find = document.getElementById("find");
  if (find) {
    const charts = [...document.querySelectorAll(".chart")];
    const names = charts.map((chart) => chart.querySelector("strong").textContent.toLowerCase());
    const input = find.querySelector("input");
    const button = find.querySelector("button");
    let isWhole = charts.length <= MOST_CHARTS;
    const show = () => {
      const wanted = input.value.trim().toLowerCase();
      let matching = 0;
      let shown = 0;
      charts.forEach((chart, k) => {
        const isMatch = names[k].includes(wanted);
        matching += isMatch;
        chart.hidden = !isMatch || (!isWhole && shown >= MOST_CHARTS);
        shown += !chart.hidden;
      });
      for (const block of document.querySelectorAll(".block")) block.hidden = !block.querySelector(".chart:not([hidden])");
      find.querySelector("output").textContent = shown < charts.length ? `${shown} of ${charts.length} columns shown` : "";
      button.hidden = shown === matching;
      button.textContent = `Show all ${matching}`;
    };
    input.addEventListener("input", show);
    button.addEventListener("click", () => {
      isWhole = true;
      show();
      input.focus();
    });
    find.hidden = charts.length < 2;
    show();
  }
})();
