// Small PNG images, made without any library.
import { crc32, deflateSync } from 'node:zlib';

const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
const rgb = 2;

/** A sun over the sea, in colours that follow from `seed`. */
export function drawImage(width: number, height: number, seed: number): Buffer {
  const hue = (seed * 47) % 256;
  const sun = { x: width * (0.2 + (seed % 7) / 10), y: height * 0.4, radius: height * 0.18 };
  const pixels = Buffer.alloc(height * (1 + width * 3));
  for (let y = 0; y < height; y += 1) {
    // Each row begins with the number of its filter: 0, none.
    let at = y * (1 + width * 3) + 1;
    const light = y / height;
    for (let x = 0; x < width; x += 1) {
      const isSun = (x - sun.x) ** 2 + (y - sun.y) ** 2 < sun.radius ** 2;
      const isSea = y > height * 0.6 + 4 * Math.sin((x + seed * 9) / 11);
      const [red, green, blue] = isSea
        ? [20, 60 + 60 * light, 120 + hue / 4]
        : isSun
          ? [255, 220, 120]
          : [hue, 140 + 80 * light, 230 - 60 * light];
      pixels[at++] = red ?? 0;
      pixels[at++] = green ?? 0;
      pixels[at++] = blue ?? 0;
    }
  }
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, rgb, 0, 0, 0], 8);
  return Buffer.concat([
    signature,
    chunk('IHDR', header),
    chunk('IDAT', deflateSync(pixels)),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

function chunk(type: string, data: Buffer): Buffer {
  const named = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const framed = Buffer.alloc(named.length + 8);
  framed.writeUInt32BE(data.length, 0);
  framed.set(named, 4);
  framed.writeUInt32BE(crc32(named), named.length + 4);
  return framed;
}
