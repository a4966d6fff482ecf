// A program whose settings Baton writes itself into, and how its files are changed. All of it works on texts: what was there
// stays, and what was added can be taken out again.
import type { Denied } from '../../kernel/verdict.ts';

export type How = {
  /** How baton is started: its name on PATH, or the place of its file. */
  readonly program: string;
  /** The workspace. */
  readonly dir: string;
  readonly reportOnly: boolean;
  /** The settings file that holds the hooks, which the message of a missing program names. */
  readonly file?: string;
};

export interface Host {
  readonly name: string;
  /** The files it reads, from the workspace. */
  readonly files: readonly string[];
  /** What the user has to know or to do besides. */
  readonly notes: readonly string[];
  /** What stands in a file of his that keeps Baton from working, in words. */
  warnings?(file: string, text: string): readonly string[];
  /** The text of the file with Baton in it; `text` is null where there is no file, and holds nothing of Baton's. */
  add(file: string, text: string | null, how: How): string | Denied;
  /** The text without Baton; null where nothing is left that anybody wrote. */
  remove(file: string, text: string): string | null | Denied;
}
