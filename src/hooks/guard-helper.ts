// Before a session starts a helper of its own: while the workspace is held nobody new is given work, and a helper whose
// result is read as an operator's must be able to write its worklog and its report.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isString, type JsonObject } from '../kernel/json.ts';
import type { Ledger } from '../kernel/ledger/state.ts';
import { type Denied, deny } from '../kernel/verdict.ts';
import type { HookSettings } from './settings.ts';

const NEEDED = ['Read', 'Write'];
const FILES_MAX = 500;
const HEAD_CHARS = 16_384;

export function refusalOfHold({ hold }: Pick<Ledger, 'hold'>): Denied | null {
  if (!hold) return null;
  const reason = `${hold.by} holds the workspace, so nobody new is started: ${hold.reason}. Finish what you have, and wait.`;
  return deny('NOT_ALLOWED_NOW', reason, { hold: { ...hold } });
}

/** `homes` are the folders that may have definitions of helpers, the nearest first. */
export function refusalOfTools(toolInput: JsonObject, settings: HookSettings, homes: readonly string[]): Denied | null {
  const { subagent_type: type } = toolInput;
  const reports = settings.contract === 'operator' && settings.contractAt.includes('SubagentStop');
  if (!reports || !isString(type)) return null;
  const tools = toolsOf(type, homes);
  const missing = tools === null ? [] : NEEDED.filter((tool) => !tools.includes(tool));
  if (missing.length === 0) return null;
  const why = `${type} lacks ${missing.join(' and ')}, and has to write its worklog and its report`;
  return deny('NON_COMPLIANT', `${why}; add it to the tools of that agent, or start another one`, { type, missing });
}

/** Null where nothing is known of it, or where it may use every tool. */
function toolsOf(type: string, homes: readonly string[]): readonly string[] | null {
  for (const home of homes) {
    for (const file of definitionsIn(join(home, '.claude', 'agents'))) {
      const head = headOf(file);
      if (head !== null && nameIn(head) === type) return toolsIn(head);
    }
  }
  return null;
}

function definitionsIn(folder: string): readonly string[] {
  try {
    const names = readdirSync(folder).filter((name) => name.endsWith('.md'));
    return names.slice(0, FILES_MAX).map((name) => join(folder, name));
  } catch {
    return [];
  }
}

/** The lines between the first two rules of dashes. */
function headOf(file: string): readonly string[] | null {
  try {
    const lines = readFileSync(file, 'utf8').slice(0, HEAD_CHARS).split(/\r?\n/);
    const end = lines.indexOf('---', 1);
    return lines[0] === '---' && end > 0 ? lines.slice(1, end) : null;
  } catch {
    return null;
  }
}

function nameIn(head: readonly string[]): string | null {
  const line = head.find((one) => one.startsWith('name:'));
  return line === undefined ? null : bare(line.slice('name:'.length));
}

/** `tools: Read, Write`, or one to a line. */
function toolsIn(head: readonly string[]): readonly string[] | null {
  const at = head.findIndex((line) => line.startsWith('tools:'));
  if (at === -1) return null;
  const inline = (head[at] ?? '').slice('tools:'.length).replaceAll(/[[\]]/g, '').split(',').map(bare);
  const rest = head.slice(at + 1);
  const end = rest.findIndex((line) => !/^\s*- /.test(line));
  const below = rest.slice(0, end === -1 ? rest.length : end).map((line) => bare(line.replace(/^\s*- /, '')));
  const tools = [...inline, ...below].filter((tool) => tool !== '');
  return tools.length === 0 || tools.includes('*') ? null : tools;
}

function bare(text: string): string {
  return text.trim().replace(/^(["'])(.*)\1$/, '$2');
}
