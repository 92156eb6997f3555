// <pakhus-files>: the file browser as a custom element.
import type { ListedFile } from '@pakhus/client';
import { h, render } from 'preact';
import { createFilesClient } from '../../../client/src/client.ts';
import browserStyles from '../../src/browser/core.css?inline';
import { readChosen } from '../../src/browser/dropped.ts';
import { lastingFetch } from '../../src/browser/fetch.ts';
import { type BrowserHandle, FileBrowser, type FileBrowserProps } from '../../src/browser/file-browser.tsx';
import type { MorePart } from '../../src/browser/more-request.ts';
import type { BrowsedUser } from '../../src/browser/state/browsed-user.ts';
import type { Catalogue } from '../../src/browser/texts.en.ts';
import tokens from '../../src/styles/tokens.css?inline';
import hostStyles from './host.css?inline';
import { loadMore } from './load-more.ts';

export type Token = string | (() => string | Promise<string>);

const textAttributes = ['base-url', 'user', 'space', 'folder', 'view', 'lang', 'dir'] as const;
const flagAttributes = ['readonly', 'picker', 'multiple'] as const;

let sheet: CSSStyleSheet | undefined;

const firstStyles = `${tokens}${hostStyles}${browserStyles}`;

/** One for all elements of the page. */
function getSheet(): CSSStyleSheet {
  if (!sheet) {
    sheet = new CSSStyleSheet();
    sheet.replaceSync(firstStyles);
  }
  return sheet;
}

async function loadStyledMore(): Promise<MorePart> {
  const { styles, ...part } = await loadMore();
  getSheet().replaceSync(firstStyles + styles);
  return part as MorePart;
}

export class PakhusFilesElement extends HTMLElement {
  static readonly observedAttributes = [...textAttributes, ...flagAttributes];

  #token: Token | undefined;
  #strings: Partial<Catalogue> | undefined;
  #user: BrowsedUser | undefined;
  #handle: BrowserHandle | null = null;
  #isRenderDue = false;
  /** Files that were given before the browser was there. */
  #waiting: File[] = [];

  constructor() {
    super();
    const root = this.attachShadow({ mode: 'open' });
    root.adoptedStyleSheets = [getSheet()];
  }

  connectedCallback(): void {
    // What a framework set before the element was defined hides the accessors.
    for (const name of ['token', 'strings', 'baseUrl', 'user', 'space', 'folder', 'view'] as const)
      adopt(this, name);
    for (const name of ['readOnly', 'picker', 'multiple'] as const) adopt(this, name);
    this.#renderSoon();
  }

  /** Aborts requests, removes listeners and revokes addresses of blobs; unfinished uploads can be continued later. */
  disconnectedCallback(): void {
    // An element that is only moved is connected again at once.
    queueMicrotask(() => {
      if (this.isConnected || !this.shadowRoot) return;
      render(null, this.shadowRoot);
      this.#user = undefined;
    });
  }

  attributeChangedCallback(name: string, before: string | null, after: string | null): void {
    if (before === after) return;
    if (name === 'base-url' || name === 'user') this.#user = undefined;
    this.#renderSoon();
  }

  /** A user or space token, or a function that gets one from your back end, called again when the last one has expired. */
  get token(): Token | undefined {
    return this.#token;
  }
  set token(token: Token | undefined) {
    // Another function for the same user is no reason to begin anew: frameworks make one for each render.
    this.#token = token;
    this.#renderSoon();
  }

  /** Replaces texts, by their names. */
  get strings(): Partial<Catalogue> | undefined {
    return this.#strings;
  }
  set strings(strings: Partial<Catalogue> | undefined) {
    this.#strings = strings;
    this.#renderSoon();
  }

  get baseUrl(): string {
    return this.getAttribute('base-url') ?? '';
  }
  set baseUrl(value: string | undefined) {
    reflect(this, 'base-url', value);
  }

  /** Your own id of the user; without it, the user of the token. */
  get user(): string | undefined {
    return this.getAttribute('user') ?? undefined;
  }
  set user(value: string | undefined) {
    reflect(this, 'user', value);
  }

  /** The id of a space, or `none` for the files outside of spaces. */
  get space(): string | undefined {
    return this.getAttribute('space') ?? undefined;
  }
  set space(value: string | undefined) {
    reflect(this, 'space', value);
  }

  get folder(): string {
    return this.getAttribute('folder') ?? '';
  }
  set folder(value: string | undefined) {
    reflect(this, 'folder', value || undefined);
  }

  get view(): 'list' | 'grid' | undefined {
    const view = this.getAttribute('view');
    return view === 'list' || view === 'grid' ? view : undefined;
  }
  set view(value: 'list' | 'grid' | undefined) {
    reflect(this, 'view', value);
  }

  get readOnly(): boolean {
    return this.hasAttribute('readonly');
  }
  set readOnly(value: boolean) {
    this.toggleAttribute('readonly', Boolean(value));
  }

  get picker(): boolean {
    return this.hasAttribute('picker');
  }
  set picker(value: boolean) {
    this.toggleAttribute('picker', Boolean(value));
  }

  /** In a picker: more than one file can be chosen. */
  get multiple(): boolean {
    return this.hasAttribute('multiple');
  }
  set multiple(value: boolean) {
    this.toggleAttribute('multiple', Boolean(value));
  }

  /** Reads the list and the quota again. */
  refresh(): void {
    this.#handle?.refresh();
  }

  /** Uploads into the folder that is shown. */
  upload(files: Iterable<File>): void {
    if (this.#handle) this.#handle.upload(readChosen(files, this.folder));
    else this.#waiting.push(...files);
  }

  #renderSoon(): void {
    if (this.#isRenderDue) return;
    this.#isRenderDue = true;
    queueMicrotask(() => {
      this.#isRenderDue = false;
      if (this.isConnected && this.shadowRoot) this.#render(this.shadowRoot);
    });
  }

  #render(root: ShadowRoot): void {
    if (!this.baseUrl || !this.#token) return;
    this.#user ??= this.#createUser();
    render(h(FileBrowser, this.#toProps(this.#user)), root);
  }

  #createUser(): BrowsedUser {
    const token = async () => (typeof this.#token === 'function' ? this.#token() : (this.#token ?? ''));
    return createFilesClient({ baseUrl: this.baseUrl, token, fetch: lastingFetch }, this.user);
  }

  #toProps(user: BrowsedUser): FileBrowserProps {
    return {
      user,
      spaceId: this.space,
      folder: this.folder,
      onFolderChange: (folder) => {
        this.folder = folder;
        this.#tell('navigate', { folder });
      },
      readOnly: this.readOnly,
      mode: this.picker ? 'picker' : 'manage',
      multiple: this.multiple,
      view: this.view,
      texts: this.#strings,
      language: this.closest<HTMLElement>('[lang]')?.lang,
      more: loadStyledMore,
      onSelect: (files: readonly ListedFile[]) => this.#tell('select', { files }),
      onUploaded: (file) => this.#tell('uploaded', { file }),
      onError: (error) => this.#tell('error', { error }),
      onReady: (handle) => {
        this.#handle = handle;
        if (handle) this.upload(this.#waiting.splice(0));
      },
    };
  }

  #tell(type: string, detail: object): void {
    this.dispatchEvent(new CustomEvent(type, { detail, bubbles: true, composed: true }));
  }
}

function reflect(element: HTMLElement, attribute: string, value: string | null | undefined): void {
  if (value === undefined || value === null) element.removeAttribute(attribute);
  else element.setAttribute(attribute, value);
}

function adopt<Name extends keyof PakhusFilesElement>(element: PakhusFilesElement, name: Name): void {
  if (!Object.hasOwn(element, name)) return;
  const value = element[name];
  delete (element as Partial<PakhusFilesElement>)[name];
  element[name] = value;
}
