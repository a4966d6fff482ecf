// What the checks of one payload found. Checks run in stages; a stage that found something is the last one, and its first
// finding gives the verdict its one code. The others of that stage are listed, so that one repair can mend them all.
// Sentences never repeat a value: it came from an agent, and may be long, secret or an instruction.

import type { OperatorRule } from '../../kernel/codes/operator-rules.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { type Allowed, allow, type Denied, deny, type Verdict } from '../../kernel/verdict.ts';
import type { OperatorCode, Options } from './contract.ts';

export type Issue = {
  readonly code: OperatorCode | OperatorRule;
  /** Such as `task.lock_scope[0]`; `$` is the payload itself. */
  readonly path: string;
  readonly message: string;
  readonly [detail: string]: JsonObject[string];
};

const LISTED_MAX = 100;
const WARNINGS_MAX = 20;
const KEY_SHOWN_MAX = 60;

export class Findings {
  readonly strict: boolean;
  readonly #issues: Issue[] = [];
  readonly #warnings: string[] = [];
  #count = 0;
  #details: JsonObject = {};

  constructor({ strict = false }: Options = {}) {
    this.strict = strict;
  }

  get count(): number {
    return this.#count;
  }

  /** The details of the first finding become details of the verdict; of the others only what is short is listed. */
  add(code: OperatorCode | OperatorRule, path: string, message: string, details: JsonObject = {}): void {
    this.#count += 1;
    if (this.#count === 1) this.#details = details;
    if (this.#issues.length < LISTED_MAX) this.#issues.push({ code, path, message, ...shortOnes(details) });
  }

  /** Takes over what a validator said about a part of the payload. */
  adopt(verdict: Verdict, path: string): void {
    const { warnings, issues, path: _path, omitted: _omitted, ...details } = verdict.details;
    if (Array.isArray(warnings)) for (const warning of warnings) this.warn(`${path}: ${warning}`);
    if (verdict.allow) return;
    const list = (Array.isArray(issues) ? issues : []) as readonly Issue[];
    for (const [index, { code, path: inner, message, ...rest }] of list.entries()) {
      this.add(code, inner === '$' ? path : `${path}.${inner}`, message, index === 0 ? details : rest);
    }
  }

  warn(sentence: string): void {
    if (this.#warnings.length < WARNINGS_MAX && !this.#warnings.includes(sentence)) this.#warnings.push(sentence);
  }

  /** Runs the stages until one finds something; then the refusal, or null when all passed. */
  through(stages: readonly (() => void)[]): Denied | null {
    for (const stage of stages) {
      stage();
      if (this.#count > 0) return this.refusal();
    }
    return null;
  }

  refusal(): Denied | null {
    const [first] = this.#issues;
    if (!first) return null;
    const more = this.#count - 1;
    const others = more === 0 ? '' : ` (and ${more} more ${more === 1 ? 'problem' : 'problems'})`;
    const omitted = this.#count - this.#issues.length;
    return deny(first.code, `${sentence(first)}${others}.`, {
      ...this.#details,
      path: first.path,
      issues: this.#issues,
      ...(omitted === 0 ? {} : { omitted }),
    });
  }

  allowed(reason: string, details: JsonObject = {}): Allowed {
    return allow(reason, this.#warnings.length === 0 ? details : { ...details, warnings: this.#warnings });
  }
}

function sentence({ path, message }: Issue): string {
  const plain = message.replace(/\.$/, '');
  return path === '$' || plain.startsWith(path) ? plain : `${path}: ${plain}`;
}

function shortOnes(details: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(details).filter(([, value]) => typeof value !== 'object' || value === null));
}

/** The path of a member. Keys that are no plain names are quoted and cut. */
export function member(path: string, key: string): string {
  const name = /^[A-Za-z0-9_-]{1,60}$/.test(key) ? key : quoted(key);
  return path === '' || path === '$' ? name : `${path}.${name}`;
}

/** A stranger's word inside one of our sentences: on one line, bounded, visibly quoted. */
export function quoted(text: string): string {
  const shown = text.length > KEY_SHOWN_MAX ? `${text.slice(0, KEY_SHOWN_MAX)}…` : text;
  return JSON.stringify(shown.toWellFormed());
}
