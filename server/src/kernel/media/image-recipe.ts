// The target of an image compression: presets and explicit overrides. Values are already validated.

export type ImageFormat = 'webp' | 'jpeg' | 'png' | 'avif';

export interface ImageRecipe {
  readonly format: ImageFormat;
  /** 1 to 100; has no effect on png, which is lossless. */
  readonly quality: number;
  /** The box to fit into, in pixels; a missing side is unbounded. */
  readonly width?: number;
  readonly height?: number;
  /** `cover` fills the box exactly, which then has both sides, and cuts off what is outside. Otherwise `inside`. */
  readonly fit?: 'inside' | 'cover';
}

export const imagePresets = {
  thumbnail: { format: 'webp', quality: 75, width: 150, height: 150 },
  medium: { format: 'webp', quality: 80, width: 800 },
  large: { format: 'webp', quality: 85, width: 1920 },
  original: { format: 'webp', quality: 90 },
} as const satisfies Record<string, ImageRecipe>;

export type ImagePreset = keyof typeof imagePresets;

export interface ImageWishes {
  readonly preset?: ImagePreset | undefined;
  readonly format?: ImageFormat | undefined;
  readonly quality?: number | undefined;
  readonly width?: number | undefined;
  readonly height?: number | undefined;
}

const plain: ImageRecipe = { format: 'webp', quality: 80 };

/** Each wish overrides one field of the preset. */
export function resolveRecipe(wishes: ImageWishes): ImageRecipe {
  const base: ImageRecipe = wishes.preset === undefined ? plain : imagePresets[wishes.preset];
  const width = wishes.width ?? base.width;
  const height = wishes.height ?? base.height;
  return {
    format: wishes.format ?? base.format,
    quality: wishes.quality ?? base.quality,
    ...(width === undefined ? {} : { width }),
    ...(height === undefined ? {} : { height }),
  };
}
