// The second file of @pakhus/elements: what index.js loads when it is wanted.
import type { ExtensibleFilesClient } from '../../../client/src/client.ts';
import { delay } from '../../../client/src/delay.ts';
import { listing } from '../../../client/src/listing.ts';
import { readImage, readZip, sharesOf, variantsOf } from '../../../client/src/resources/delivery.ts';
import { foldersOf, moreFilesOf } from '../../../client/src/resources/files.ts';
import type { Delivery } from '../../src/browser/more-request.ts';
import moreStyles from '../../src/browser/styles/more.css?inline';
import { moreEnglish } from '../../src/browser/texts.more.en.ts';

export { More } from '../../src/browser/more/more.tsx';
export const texts = moreEnglish;
export const styles = moreStyles;

export function deliver({ http, path }: ExtensibleFilesClient): Delivery {
  const tools = { http, pause: delay, list: listing };
  const { copy, batch, restore } = moreFilesOf(http, path);
  return {
    files: {
      copy,
      batch,
      restore,
      variant: (fileId, name, options) => readImage(tools, [path, fileId, name], options),
    },
    folders: foldersOf(http, path),
    shares: async () => sharesOf(tools, path),
    variants: async () => variantsOf(tools),
    // A page on another origin has no cookie: only a request by script can carry the token.
    zip: (query) => readZip(tools, path, query),
  };
}
