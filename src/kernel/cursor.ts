// Cursors: the position of a page's last row, signed together with the list that it belongs to, so that a
// cursor of another list, tenant or user, or one that was edited, is refused instead of misread.
import { invalid } from './error.ts';
import { hmacSha256, sameText } from './secret.ts';

export type Position = readonly string[];

export interface CursorCodec {
  encode(list: string, position: Position): string;
  /** Throws a 400 that names the `cursor` parameter. */
  decode(list: string, cursor: string): Position;
}

/** 96 bits. */
const signatureChars = 16;

export function cursorCodec(key: Buffer): CursorCodec {
  const sign = (list: string, payload: string) =>
    hmacSha256(key, `${list}\n${payload}`, 'base64url').slice(0, signatureChars);
  return {
    encode(list, position) {
      const payload = JSON.stringify(position);
      return sign(list, payload) + Buffer.from(payload).toString('base64url');
    },
    decode(list, cursor) {
      const payload = Buffer.from(cursor.slice(signatureChars), 'base64url').toString();
      if (!sameText(cursor.slice(0, signatureChars), sign(list, payload))) throw badCursor();
      return JSON.parse(payload) as Position;
    },
  };
}

const badCursor = () =>
  invalid(400, [
    {
      path: 'cursor',
      message: 'is not a cursor of this list: take next_cursor of the page before',
      code: 'cursor',
    },
  ]);
