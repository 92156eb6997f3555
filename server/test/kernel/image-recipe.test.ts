// The presets, and how explicit options override them.
import { describe, expect, it } from 'vitest';
import { type ImageRecipe, type ImageWishes, resolveRecipe } from '../../src/kernel/media/image-recipe.ts';

const table: [string, ImageWishes, ImageRecipe][] = [
  ['nothing', {}, { format: 'webp', quality: 80 }],
  ['thumbnail', { preset: 'thumbnail' }, { format: 'webp', quality: 75, width: 150, height: 150 }],
  ['medium', { preset: 'medium' }, { format: 'webp', quality: 80, width: 800 }],
  ['large', { preset: 'large' }, { format: 'webp', quality: 85, width: 1920 }],
  ['original', { preset: 'original' }, { format: 'webp', quality: 90 }],
  [
    'a preset in another format',
    { preset: 'medium', format: 'avif' },
    { format: 'avif', quality: 80, width: 800 },
  ],
  [
    'a preset at another quality',
    { preset: 'large', quality: 1 },
    { format: 'webp', quality: 1, width: 1920 },
  ],
  [
    'a preset of another width',
    { preset: 'thumbnail', width: 300 },
    { format: 'webp', quality: 75, width: 300, height: 150 },
  ],
  [
    'a preset with another height',
    { preset: 'original', height: 10 },
    { format: 'webp', quality: 90, height: 10 },
  ],
  [
    'wishes alone',
    { format: 'png', quality: 100, width: 1, height: 2 },
    { format: 'png', quality: 100, width: 1, height: 2 },
  ],
  [
    'wishes left undefined',
    { preset: undefined, format: undefined, width: undefined },
    { format: 'webp', quality: 80 },
  ],
];

describe('resolveRecipe', () => {
  it.each(table)('%s', (_name, wishes, recipe) => {
    expect(resolveRecipe(wishes)).toEqual(recipe);
    // An absent side is absent, not undefined: recipes are stored and compared as JSON.
    expect(Object.keys(resolveRecipe(wishes)).sort()).toEqual(Object.keys(recipe).sort());
  });
});
