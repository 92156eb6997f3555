// The types of @pakhus/elements.

export type Token = string | (() => string | Promise<string>);

/** A file as lists show it. More fields: see the reference of the API. */
export interface PakhusFile {
  readonly id: string;
  readonly name: string;
  readonly size: number;
  readonly mimeType: string;
  readonly folder: string;
  readonly tags: readonly string[];
  readonly classifier: string | null;
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly visibility: 'private' | 'public';
  readonly sha256: string | null;
  readonly space_id: string | null;
  readonly created_at: string;
  readonly updated_at: string;
}

/** A text, or one for each plural form of its language. */
export type Text = string | ({ readonly other: string } & Partial<Record<Intl.LDMLPluralRule, string>>);

export interface PakhusFilesEventMap {
  select: CustomEvent<{ readonly files: readonly PakhusFile[] }>;
  uploaded: CustomEvent<{ readonly file: PakhusFile }>;
  /** A PakhusError of @pakhus/client has `code`, `status`, `message` and `requestId`. */
  error: CustomEvent<{ readonly error: unknown }>;
  navigate: CustomEvent<{ readonly folder: string }>;
}

export declare class PakhusFilesElement extends HTMLElement {
  /** Where the service is, for example `https://files.example.com`. */
  baseUrl: string;
  /** A user or space token, or a function that gets one from your back end, called again when the last one has expired. */
  token: Token | undefined;
  /** Your own id of the user; without it, the user of the token. */
  user: string | undefined;
  /** The id of a space, or `none` for the files outside of spaces. */
  space: string | undefined;
  folder: string;
  view: 'list' | 'grid' | undefined;
  readOnly: boolean;
  picker: boolean;
  /** In a picker: more than one file can be chosen. */
  multiple: boolean;
  /** Replaces texts, by their names. */
  strings: Readonly<Record<string, Text>> | undefined;
  /** Reads the list and the quota again. */
  refresh(): void;
  /** Uploads into the folder that is shown. */
  upload(files: Iterable<File>): void;
  addEventListener<Type extends keyof PakhusFilesEventMap>(
    type: Type,
    listener: (this: PakhusFilesElement, event: PakhusFilesEventMap[Type]) => unknown,
    options?: boolean | AddEventListenerOptions,
  ): void;
  addEventListener(
    type: string,
    listener: EventListenerOrEventListenerObject,
    options?: boolean | AddEventListenerOptions,
  ): void;
}

declare global {
  interface HTMLElementTagNameMap {
    'pakhus-files': PakhusFilesElement;
  }
}
