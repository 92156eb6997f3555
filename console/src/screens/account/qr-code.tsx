// A QR code, drawn here: the secret in it goes nowhere.
import { useMemo } from 'preact/hooks';
import { encode } from 'uqr';

/** Scanners need it around the code. */
const quietZone = 4;

export function QrCode({ text, label }: { text: string; label: string }) {
  const { data, size } = useMemo(() => encode(text, { ecc: 'M', border: quietZone }), [text]);
  return (
    <svg class="qr-code" viewBox={`0 0 ${size} ${size}`} role="img" aria-label={label}>
      <path d={toPath(data)} shape-rendering="crispEdges" />
    </svg>
  );
}

const toPath = (rows: readonly (readonly boolean[])[]): string =>
  rows.flatMap((row, y) => row.map((isDark, x) => (isDark ? `M${x} ${y}h1v1h-1z` : ''))).join('');
