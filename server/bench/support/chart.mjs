// A growth chart as SVG: sizes across and milliseconds of CPU up, both on a logarithmic scale.

const [width, height] = [760, 420];
const edge = { left: 70, right: 190, top: 40, bottom: 50 };
const colours = ['#1b6ca8', '#d1495b', '#2e933c', '#8d5a97', '#e09f3e', '#444444', '#008b8b'];

export function growthChart(sizes, series) {
  const all = Object.values(series).flat();
  const across = scale(Math.log10(sizes[0]), Math.log10(sizes.at(-1)), edge.left, width - edge.right);
  const [low, high] = [Math.floor(Math.log10(Math.min(...all))), Math.ceil(Math.log10(Math.max(...all)))];
  const up = scale(low, high, height - edge.bottom, edge.top);
  const decades = Array.from({ length: high - low + 1 }, (_, step) => low + step);
  const labels = spread(
    Object.entries(series).map(([what, figures], at) => ({
      what,
      colour: colours[at % colours.length],
      y: up(Math.log10(figures.at(-1))),
    })),
  );
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="sans-serif" font-size="12">
<rect width="100%" height="100%" fill="white"/>
<text x="${edge.left}" y="22" font-size="15">CPU time per request, service and database, by the number of files in a project</text>
${decades.map((decade) => `<path d="M${edge.left} ${up(decade)}H${width - edge.right}" stroke="#ddd"/><text x="${edge.left - 8}" y="${up(decade) + 4}" text-anchor="end">${10 ** decade} ms</text>`).join('\n')}
${sizes.map((size) => `<text x="${across(Math.log10(size))}" y="${height - edge.bottom + 20}" text-anchor="middle">${size.toLocaleString('en')}</text>`).join('\n')}
${Object.values(series)
  .map(
    (figures, at) =>
      `<polyline fill="none" stroke="${colours[at % colours.length]}" stroke-width="2" points="${figures.map((figure, index) => `${across(Math.log10(sizes[index])).toFixed(1)},${up(Math.log10(figure)).toFixed(1)}`).join(' ')}"/>`,
  )
  .join('\n')}
${labels.map(({ what, colour, y }) => `<text x="${width - edge.right + 10}" y="${y + 4}" fill="${colour}">${what}</text>`).join('\n')}
</svg>
`;
}

const scale = (from, to, start, end) => (value) =>
  start + ((value - from) / (to - from || 1)) * (end - start);

/** Moves overlapping labels apart. */
function spread(labels) {
  const sorted = labels.toSorted((a, b) => a.y - b.y);
  sorted.forEach((label, index) => {
    const above = sorted[index - 1];
    if (above) label.y = Math.max(label.y, above.y + 15);
  });
  return sorted;
}
