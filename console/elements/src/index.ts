// @pakhus/elements: registers <pakhus-files>.
import { PakhusFilesElement } from './pakhus-files.ts';

// A page may load the script twice.
if (!customElements.get('pakhus-files')) customElements.define('pakhus-files', PakhusFilesElement);

export { PakhusFilesElement };
