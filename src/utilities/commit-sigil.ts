// Commit-Sigil: checks that the title of each work item can be a commit message, `type(scope)!: summary`. It passes the items on
// unchanged.
import { isObject, type Json } from '../kernel/json.ts';
import { type ShippedInput, type UtilityOutcome, utilityResult } from './utility.ts';

const TYPES = ['build', 'chore', 'ci', 'docs', 'feat', 'fix', 'perf', 'refactor', 'revert', 'style', 'test'];
const REMARKS_MAX = 20;
const TITLE_CHARS_MAX = 200;

export async function commitSigil({ state }: ShippedInput): Promise<UtilityOutcome> {
  const items = state.workItems;
  if (!Array.isArray(items))
    return utilityResult({ workItems: [], satisfied: false, context: 'state.workItems is not a list' });
  const complaints: string[] = [];
  const advice: string[] = [];
  for (const [index, item] of items.entries()) {
    if (!isObject(item)) continue;
    const { complaint, remark } = judge(item.title);
    if (complaint !== null) complaints.push(`- $.workItems.${index}.title ${complaint}`);
    else if (remark !== null) advice.push(`- $.workItems.${index}.title ${remark}`);
  }
  const context = [
    ...list('These titles are not of the form `type(scope)!: summary`:', complaints),
    ...list('Only advice:', advice),
  ].join('\n');
  return utilityResult({ workItems: items, satisfied: complaints.length === 0, context });
}

/** The probably intended title. */
export function suggestTitle(title: string): string {
  const text = title.trim();
  const colon = text.indexOf(':');
  const parts = colon < 0 ? null : HEAD.exec(text.slice(0, colon).trim());
  const [, type, scope, mark = ''] = parts ?? [];
  const summary = text.slice(colon + 1).trim();
  if (type === undefined || summary === '') {
    const bare = text.replaceAll(':', ' ').trim() || 'describe the change';
    return `${/^fix/i.test(bare) ? 'fix' : 'feat'}: ${bare}`;
  }
  const where = scope?.trim() ? `(${scope.trim()})` : '';
  return `${type.toLowerCase()}${where}${mark}: ${summary}`;
}

const FORM = /^([a-z][a-z0-9-]*)(\([^()\s][^()]*\))?!?: \S/;
const HEAD = /^([A-Za-z][A-Za-z0-9-]*)\s*(?:\(([^()]*)\))?\s*(!?)$/;

function judge(title: Json | undefined): { readonly complaint: string | null; readonly remark: string | null } {
  if (typeof title !== 'string') return { complaint: 'is missing', remark: null };
  const text = title.trim();
  const type = FORM.exec(text)?.[1];
  if (type === undefined) return { complaint: `${quote(text)}: use ${quote(suggestTitle(text))}`, remark: null };
  if (TYPES.includes(type)) return { complaint: null, remark: null };
  return { complaint: null, remark: `${quote(text)}: "${type}" is not one of ${TYPES.join(', ')}` };
}

function list(heading: string, lines: readonly string[]): readonly string[] {
  if (lines.length === 0) return [];
  const more = lines.length - REMARKS_MAX;
  return [heading, ...lines.slice(0, REMARKS_MAX), ...(more > 0 ? [`- and ${more} more`] : [])];
}

function quote(text: string): string {
  return JSON.stringify(text.length <= TITLE_CHARS_MAX ? text : `${text.slice(0, TITLE_CHARS_MAX - 1)}…`);
}
