// Boundaries as prompts state them in prose, turned into the form the manifest uses. The manifest decides; prose only
// helps a person to write it, and shows where the two have drifted apart.

import { type Diagnostic, warning } from '../kernel/trust/problem.ts';
import type { Agent } from './agent.ts';
import type { AllowEdge, Collaboration, Redirect } from './collaboration.ts';

const HEADING = /^#{1,6}\s+(.*)$/;
const BOUNDARIES = /^collaboration (?:boundaries|with other domains)\b/i;
const OUT_OF_SCOPE = /^out[ -]of[ -]scope\b/i;
const ITEM = /^\s*[-*+]\s+(.*)$/;
const PARTNER = /^\*{0,2}with domain (\d{1,4})\b/i;
const LINE_ONLY = /\b(?:distinguish|separate|vs|not)\b/i;
const ARROW = /(?:→|->)(.*)$/;
const LINE_LENGTH_MAX = 4_096;

/** Null when the text says nothing about boundaries. */
export function proseBoundaries(text: string, ids: readonly string[]): Collaboration | null {
  const partners = itemsUnder(text, BOUNDARIES);
  const outside = itemsUnder(text, OUT_OF_SCOPE);
  const redirects = (outside ?? []).flatMap((item) => redirectIn(item, ids));
  if (partners) {
    return { allow: partners.flatMap((item) => edgeIn(item, ids)), deny: [], redirect: redirects };
  }
  if (redirects.length === 0) return null;
  const targets = [...new Set(redirects.map((redirect) => redirect.target))];
  return { allow: targets.map((target) => edge(target, 'collaborate', null)), deny: [], redirect: redirects };
}

/** Where the prompt of an agent promises other partners than the manifest. */
export function driftOf(agent: Agent, ids: readonly string[]): Diagnostic[] {
  if (!agent.prompt) return [];
  const prose = proseBoundaries(new TextDecoder().decode(agent.prompt), ids);
  if (!prose) return [];
  const declared = targetsOf(agent.collaboration);
  const written = targetsOf(prose);
  const drift = (message: string) => warning(agent.id, 'BOUNDARY_DRIFT', message);
  return [
    ...[...written]
      .filter((id) => !declared.has(id))
      .map((id) => drift(`the prompt names ${id}, the manifest does not`)),
    ...[...declared]
      .filter((id) => !written.has(id))
      .map((id) => drift(`the manifest names ${id}, the prompt does not`)),
  ];
}

function targetsOf(collaboration: Collaboration): Set<string> {
  return new Set(collaboration.allow.map((edge) => edge.target));
}

/** The list items below the first heading of this name, up to the next heading; null without such a heading. */
function itemsUnder(text: string, name: RegExp): string[] | null {
  let items: string[] | null = null;
  for (const line of text.split(/\r?\n/)) {
    if (line.length > LINE_LENGTH_MAX) continue;
    const heading = HEADING.exec(line);
    if (heading) {
      if (items) return items;
      if (isSection(line) && name.test(heading[1] ?? '')) items = [];
    } else if (items) {
      const item = ITEM.exec(line)?.[1];
      if (item !== undefined) items.push(item);
    }
  }
  return items;
}

function isSection(line: string): boolean {
  return /^#{2,4}\s/.test(line);
}

function edgeIn(item: string, ids: readonly string[]): AllowEdge[] {
  const number = PARTNER.exec(item)?.[1];
  const target = number === undefined ? null : byNumber(number, ids);
  return target === null ? [] : [edge(target, LINE_ONLY.test(item) ? 'demarcate' : 'collaborate', item)];
}

function redirectIn(item: string, ids: readonly string[]): Redirect[] {
  const arrow = ARROW.exec(item);
  if (!arrow) return [];
  const named = arrow[1] ?? '';
  const number = /\bdomain[ -](\d{1,4})\b/i.exec(named)?.[1];
  const target = number === undefined ? null : byNumber(number, ids);
  const scope = item
    .slice(0, arrow.index)
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '')
    .slice(0, 64);
  return target === null || scope === '' ? [] : [{ scope, target }];
}

function byNumber(number: string, ids: readonly string[]): string | null {
  const matching = ids.filter((id) => id.startsWith(`domain-${number.padStart(2, '0')}-`));
  return matching.length === 1 ? (matching[0] ?? null) : null;
}

function edge(target: string, mode: AllowEdge['mode'], note: string | null): AllowEdge {
  return { target, mode, scopes: null, types: null, note };
}
