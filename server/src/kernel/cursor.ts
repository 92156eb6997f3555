// Cursors: the position of a page's last row, signed together with its list. A cursor of another list, tenant or user,
// or an edited one, is refused.

import { createMac } from './crypto/mac.ts';
import { sameText } from './crypto/secret.ts';
import { invalid } from './error.ts';

export type Position = readonly string[];

export interface CursorCodec {
  encode(list: string, position: Position): string;
  /** Throws a 400 that names the `cursor` parameter. */
  decode(list: string, cursor: string): Position;
}

/** 96 bits. */
const signatureChars = 16;

/** Cursors signed with an earlier key are still accepted. */
export function cursorCodec(key: Buffer, ...earlier: readonly Buffer[]): CursorCodec {
  const mac = createMac(key);
  const macs = [mac, ...earlier.map(createMac)];
  const signed = (list: string, payload: string, by = mac): string => {
    const signature = by(`${list}\n${payload}`, 'base64url').slice(0, signatureChars);
    return signature + Buffer.from(payload).toString('base64url');
  };
  return {
    encode: (list, position) => signed(list, JSON.stringify(position)),
    decode(list, cursor) {
      const payload = Buffer.from(cursor.slice(signatureChars), 'base64url').toString();
      // Compares the whole text, because base64url decoding ignores padding and stray characters.
      if (!macs.some((one) => sameText(cursor, signed(list, payload, one)))) throw badCursor();
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
