// The order of what the search finds: the glossary's entries (by their own names, then by other words), how to
// set the course up, lessons, documents; the project's pages and code come last.
var Scorer = {
  objNameMatch: 11, objPartialMatch: 6, objPrio: {0: 15, 1: 5, 2: -5}, objPrioDefault: 0,
  title: 15, partialTitle: 7, term: 5, partialTerm: 2,
  score: ([page, , place, , score, , kind]) => {
    if (page === "notebooks/glossary" && place) return score + (kind === "title" ? 400 : 250);
    if (page === "docs/set-up") return score + 100;
    if (page.startsWith("notebooks")) return score + 50;
    return /^gpulessons|^[A-Z]|binder/.test(page) ? score - 100 : score;
  },
};
