// Every installed package must support the oldest Node that package.json allows, or npm prints warnings.
import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';

const readJson = async (name: string) =>
  JSON.parse(await readFile(new URL(`../../../${name}`, import.meta.url), 'utf8'));

/** Understands the ranges that packages use: alternatives of `*`, `20`, `20.x`, `^20.9.0`, `>=18.17 <25`. */
const admits = (range: string, [major, minor]: readonly [number, number]): boolean =>
  range.split('||').some((alternative) =>
    [...alternative.matchAll(/(>=|>|<=|<|\^|~|=)?\s*v?(\d+|\*|x)(?:\.(\d+|\*|x))?(?:\.[\w*-]+)*/g)].every(
      ([, sign = '', x = '*', y = '0']) => {
        if (!/^\d+$/.test(x)) return true;
        const [low, lowMinor] = [Number(x), /^\d+$/.test(y) ? Number(y) : 0];
        const isAbove = major > low || (major === low && minor >= lowMinor);
        if (sign.startsWith('>')) return isAbove;
        if (sign.startsWith('<')) return !isAbove;
        return isAbove && major === low;
      },
    ),
  );

test.each([
  ['>=18', true],
  ['>=22', false],
  ['>=20.19.0', true],
  ['^20.20.0 || >=22.12', false],
  ['^18.0.0 || ^20.0.0 || >=22', true],
  ['20 || >=22', true],
  ['>= 10.x', true],
  ['>=18 <20', false],
  ['*', true],
])('%s allows Node 20.19: %s', (range, isAdmitted) => {
  expect(admits(range, [20, 19])).toBe(isAdmitted);
});

test('every package in the lockfile supports the oldest Node that Pakhus supports', async () => {
  const [, major, minor] = />=(\d+)\.(\d+)/.exec((await readJson('package.json')).engines.node) ?? [];
  const { packages } = await readJson('package-lock.json');
  const tooNew = Object.entries<{ engines?: { node?: string } }>(packages)
    .filter(([, { engines }]) => engines?.node && !admits(engines.node, [Number(major), Number(minor)]))
    .map(([name, { engines }]) => `${name} needs ${engines?.node}`);
  expect(tooNew).toEqual([]);
});
