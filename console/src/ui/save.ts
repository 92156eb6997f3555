// Saves text as a file of the person's own machine.

/** The browser reads the bytes after the click, at a time that it does not tell. */
const keptMs = 60_000;

export function saveFile(name: string, type: string, parts: readonly string[]): void {
  const url = URL.createObjectURL(new Blob([...parts], { type }));
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), keptMs);
}
