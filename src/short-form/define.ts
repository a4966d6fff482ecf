// A loadout of the short form in TypeScript. The names of steps are checked by type, everything else when it is called.
import type { Json } from '../kernel/json.ts';
import { compile, type SourcePath } from './compile.ts';
import type { ShortForm, StepOptions } from './table.ts';

type NameOf<Step> = Step extends string
  ? Step
  : Step extends { readonly do: infer Steps }
    ? NamesOf<Steps>
    : keyof Step & string;
/** The names of all steps, those inside loops too. */
type NamesOf<Steps> = Steps extends readonly (infer Step)[] ? NameOf<Step> : never;

type Target<Names extends string> = Names | 'end';
type Options<Names extends string> = Omit<StepOptions, 'next' | 'reject'> & {
  readonly next?: Target<Names>;
  readonly reject?:
    | Target<Names>
    | 'skip'
    | { readonly to: Target<Names>; readonly max?: number; readonly then?: 'fail' | 'park' | 'ask' };
  readonly [extension: `x_${string}`]: unknown;
};
type Typed<Steps, Names extends string> = {
  readonly [Index in keyof Steps]: Steps[Index] extends string
    ? Steps[Index]
    : Steps[Index] extends { readonly do: infer Inner }
      ? { readonly each: Names; readonly do: Typed<Inner, Names>; readonly parallel?: number }
      : { readonly [Name in keyof Steps[Index]]: Options<Names> };
};

export type LoadoutFile<Steps> = Omit<ShortForm, 'steps'> & { readonly steps: Steps };

/** Answers the same object. It throws with all mistakes where the object is no loadout. */
export function defineLoadout<const Steps extends readonly unknown[]>(
  file: Omit<ShortForm, 'steps'> & { readonly steps: Steps & Typed<Steps, NamesOf<Steps>> },
): LoadoutFile<Steps> {
  const value = JSON.parse(JSON.stringify(file)) as Json;
  const compiled = compile('loadout', value, { materia: {} });
  // Which agents config.json defines is known when the loadout is cast.
  const mistakes = compiled.ok ? [] : compiled.mistakes.filter(({ code }) => code !== 'UNKNOWN_MATERIA');
  if (mistakes.length === 0) return file;
  const lines = mistakes.map(({ place, message }) => `${placeText(place)}: ${message}`);
  throw new Error(`This is no loadout.\n${lines.join('\n')}`);
}

/** `steps[1].fix.next` */
export function placeText(place: SourcePath): string {
  return place.map((key, at) => (typeof key === 'number' ? `[${key}]` : `${at === 0 ? '' : '.'}${key}`)).join('');
}
