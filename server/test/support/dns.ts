// A name server on loopback, over UDP, whose answers the test can change at any time.
import { createSocket } from 'node:dgram';
import type { AddressInfo } from 'node:net';

export interface NameServer {
  /** For the settings of a resolver. */
  readonly address: string;
  /** The questions for IPv4 addresses so far. */
  readonly asked: string[];
  /** Changes what it answers: IPv4 addresses, or none for a name that does not exist. */
  answerWith(find: (name: string) => readonly string[]): void;
  stop(): Promise<void>;
}

const typeA = 1;
const headerBytes = 12;
const nameError = 3;

export async function startNameServer(): Promise<NameServer> {
  const socket = createSocket('udp4');
  const asked: string[] = [];
  let find: (name: string) => readonly string[] = () => [];
  socket.on('message', (question, from) => {
    const { name, type, end } = readQuestion(question);
    if (type === typeA) asked.push(name);
    const found = type === typeA ? find(name) : [];
    socket.send(toAnswer(question.subarray(0, end), found, type === typeA), from.port, from.address);
  });
  await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve));
  const { port } = socket.address() as AddressInfo;
  return {
    address: `127.0.0.1:${port}`,
    asked,
    answerWith: (next) => {
      find = next;
    },
    stop: () => new Promise((resolve) => socket.close(() => resolve())),
  };
}

function readQuestion(message: Buffer): { name: string; type: number; end: number } {
  const labels: string[] = [];
  let at = headerBytes;
  for (let length = message[at] as number; length > 0; length = message[at] as number) {
    labels.push(message.toString('latin1', at + 1, at + 1 + length));
    at += 1 + length;
  }
  return { name: labels.join('.').toLowerCase(), type: message.readUInt16BE(at + 1), end: at + 5 };
}

/** Every answer may be used once: nobody may keep it. */
function toAnswer(question: Buffer, addresses: readonly string[], isKnownType: boolean): Buffer {
  const head = Buffer.from(question);
  const code = isKnownType && addresses.length === 0 ? nameError : 0;
  head.writeUInt16BE(0x8180 | code, 2);
  head.writeUInt16BE(addresses.length, 6);
  head.fill(0, 8, headerBytes);
  const records = addresses.map((address) => {
    const record = Buffer.alloc(16);
    record.writeUInt16BE(0xc000 | headerBytes, 0);
    record.writeUInt16BE(typeA, 2);
    record.writeUInt16BE(1, 4);
    record.writeUInt16BE(4, 10);
    Buffer.from(address.split('.').map(Number)).copy(record, 12);
    return record;
  });
  return Buffer.concat([head, ...records]);
}
