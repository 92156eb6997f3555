// The import graph of TypeScript sources, type imports included, read by a regular expression.
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';

/** Each source file with its text, the files and the packages that it imports. */
export function readSources(src) {
  return new Map(
    readdirSync(src, { recursive: true })
      .filter((name) => /\.tsx?$/.test(name) && !/\.test\.tsx?$/.test(name))
      .map((file) => {
        const text = readFileSync(join(src, file), 'utf8');
        return [file, { text, ...parseImports(src, file, text) }];
      }),
  );
}

function parseImports(src, file, text) {
  const found = [
    ...text.matchAll(/(?:^|\n)\s*(?:import|export)\b[^;]*?from\s+'([^']+)'|import\('([^']+)'\)/g),
  ].map((match) => match[1] ?? match[2]);
  const isRelative = (path) => path.startsWith('.');
  return {
    files: found.filter(isRelative).map((path) => relative(src, resolve(src, dirname(file), path))),
    packages: found.filter((path) => !isRelative(path)).map((path) => path.match(/^(@[^/]+\/)?[^/]+/)[0]),
  };
}

/** One cycle for each edge that closes one, by depth-first search. */
export function findCycles(graph) {
  const cycles = [];
  const state = new Map();
  const visit = (node, path) => {
    if (state.get(node) === 'done') return;
    if (state.get(node) === 'open') {
      cycles.push([...path.slice(path.indexOf(node)), node]);
      return;
    }
    state.set(node, 'open');
    for (const target of graph.get(node) ?? []) visit(target, [...path, node]);
    state.set(node, 'done');
  };
  for (const node of graph.keys()) visit(node, []);
  return cycles;
}
