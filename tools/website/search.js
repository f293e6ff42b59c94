"use strict";
// Ranks pages for a question. Sphinx's own search wants every word of it on a page; this one adds up how much the words that a page has
// say, rare words most, and words of headings more than others. Guides come before the reference, whose pages have every word.
document.addEventListener("DOMContentLoaded", () => {
  if (typeof Search === "undefined") return;

  const weight = (name) => (name.startsWith("guides/") ? 1.25 : name.startsWith("reference/") ? 0.5 : name.startsWith("DECISIONS/") || name === "index" ? 0.5 : 1);
  const listed = (files) => (files === undefined ? [] : Array.isArray(files) ? files : [files]);
  const found = (terms, word) => {
    if (Object.hasOwn(terms, word)) return new Set(listed(terms[word]));
    // A word that no page has: those that begin with it.
    return new Set(word.length < 4 ? [] : Object.keys(terms).filter((term) => term.startsWith(word)).flatMap((term) => listed(terms[term])));
  };

  Search.performTermsSearch = (words, without) => {
    const { terms, titleterms, docnames, titles, filenames } = Search._index;
    const scores = new Map();
    let all = 0;
    for (const word of words) {
      const text = found(terms, word), heads = found(titleterms, word);
      const pages = new Set([...text, ...heads]);
      if (pages.size === 0) continue;
      const says = Math.log(1 + docnames.length / pages.size);
      all += says;
      for (const page of pages) scores.set(page, (scores.get(page) || 0) + says * (heads.has(page) ? 1 : 0.55));
    }
    const left = new Set([...without].flatMap((word) => [...found(terms, word), ...found(titleterms, word)]));
    return [...scores]
      .filter(([page, score]) => score > all / 4 && !left.has(page))
      .map(([page, score]) => [docnames[page], titles[page], "", null, (40 * score * weight(docnames[page])) / all, filenames[page], SearchResultKind.text]);
  };
});
