// The first bytes of an answer as text, also if the store ignores the range and sends everything.

export async function readStart(response: Response, bytesMax: number): Promise<string> {
  const reader = response.body?.getReader();
  const decoder = new TextDecoder();
  let text = '';
  let left = bytesMax;
  while (reader && left > 0) {
    const { done, value } = await reader.read();
    if (done) return text + decoder.decode();
    text += decoder.decode(value.subarray(0, left), { stream: true });
    left -= value.byteLength;
  }
  // A character that was cut at the end is left out.
  await reader?.cancel().catch(() => undefined);
  return text;
}
