// The payload a command is given: a file, or standard input where the name is a dash.
import { resolve } from 'node:path';
import { readBytesOf, readText } from '../workspace/load-config.ts';
import { type Call, UsageError } from './command.ts';

const INPUT_BYTES_MAX = 16 * 1024 * 1024;

export async function readInput(call: Call, name: string): Promise<string> {
  return name === '-' ? standardInput() : readText(resolve(call.cwd, name));
}

/** The same before anything was made of it. */
export async function readBytes(call: Call, name: string): Promise<Buffer> {
  return name === '-' ? standardBytes() : readBytesOf(resolve(call.cwd, name));
}

export async function standardInput(): Promise<string> {
  return (await standardBytes()).toString('utf8');
}

async function standardBytes(): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of process.stdin) {
    bytes += (chunk as Buffer).length;
    if (bytes > INPUT_BYTES_MAX) throw new UsageError(`standard input is larger than ${INPUT_BYTES_MAX} bytes`);
    chunks.push(chunk as Buffer);
  }
  return Buffer.concat(chunks);
}
