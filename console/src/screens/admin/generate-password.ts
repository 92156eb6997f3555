// A random password that is easy to read aloud: about 100 bits.

/** 32 characters, so that each byte gives one without bias. Without 0, 1, l and o. */
const alphabet = 'abcdefghijkmnpqrstuvwxyz23456789';
const groups = 4;
const groupLength = 5;

export function generatePassword(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(groups * groupLength));
  const letters = Array.from(bytes, (byte) => alphabet[byte % alphabet.length]);
  return Array.from({ length: groups }, (_, index) =>
    letters.slice(index * groupLength, (index + 1) * groupLength).join(''),
  ).join('-');
}
