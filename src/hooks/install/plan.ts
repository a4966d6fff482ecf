// What an installation changes, and what takes it back. What stood in the files before is kept, so that files nobody has
// touched since become what they were, byte for byte; in the others only what is ours is taken out.
import { hash } from 'node:crypto';
import { isObject, isString, type Json, type JsonObject } from '../../kernel/json.ts';
import type { Denied } from '../../kernel/verdict.ts';
import { claudeHost } from './claude.ts';
import { codexHost } from './codex.ts';
import type { Host, How } from './host.ts';
import { isDenied } from './json-file.ts';
import { piHost } from './pi.ts';

export const HOSTS: readonly Host[] = [claudeHost, codexHost, piHost];

export type Change = { readonly file: string; readonly before: string | null; readonly after: string | null };

/** What a file was before the first installation, and the digest of what it became. */
type Kept = { readonly before: string | null; readonly digest: string };
export type InstallRecord = Readonly<Record<string, Kept>>;

export type Plan = { readonly changes: readonly Change[]; readonly record: InstallRecord };
export type Reader = (file: string) => string | null;

export function planInstall(host: Host, read: Reader, record: InstallRecord, how: How): Plan | Denied {
  const changes: Change[] = [];
  const kept: Record<string, Kept> = {};
  for (const file of host.files) {
    const before = read(file);
    const own = before === null ? null : host.remove(file, before);
    if (isDenied(own)) return own;
    const after = host.add(file, own, how);
    if (isDenied(after)) return after;
    if (after !== before) changes.push({ file, before, after });
    // Only a file that nobody has touched since is still known as what it was before us.
    const isUntouched = before !== null && record[file]?.digest === digestOf(before);
    kept[file] = { before: isUntouched ? (record[file]?.before ?? null) : own, digest: digestOf(after) };
  }
  return { changes, record: kept };
}

export function planUndo(host: Host, read: Reader, record: InstallRecord): Plan | Denied {
  const changes: Change[] = [];
  for (const file of host.files) {
    const before = read(file);
    if (before === null) continue;
    const kept = record[file];
    const after = kept && kept.digest === digestOf(before) ? kept.before : host.remove(file, before);
    if (isDenied(after)) return after;
    if (after !== before) changes.push({ file, before, after });
  }
  return { changes, record: {} };
}

/** Anything that is no record counts as none: then only what is ours is taken out. */
export function recordIn(text: string | null): InstallRecord {
  if (text === null) return {};
  try {
    const value: unknown = JSON.parse(text);
    const files = isObject(value) && isObject(value.files) ? value.files : {};
    const pairs = Object.entries(files).filter((pair): pair is [string, JsonObject & Kept] => isKept(pair[1]));
    return Object.fromEntries(pairs.map(([file, { before, digest }]) => [file, { before, digest }]));
  } catch {
    return {};
  }
}

export function recordText(record: InstallRecord): string {
  return `${JSON.stringify({ files: record }, null, 2)}\n`;
}

function isKept(value: Json): value is JsonObject & Kept {
  return isObject(value) && (value.before === null || isString(value.before)) && isString(value.digest);
}

function digestOf(text: string): string {
  return hash('sha256', text, 'hex');
}
