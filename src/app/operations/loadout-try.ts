// Tries a draft of a loadout: it is played in memory with the answers that a person gives. Nothing is started, written or kept.
import type { EditorDocument } from '../../editor/document.ts';
import { briefOf, playTrial, TRIAL_ANSWERS_MAX } from '../../editor/trial.ts';
import type { TrialAnswer } from '../../editor/trial-script.ts';
import { isObject, isString, isText, type Json, type JsonObject } from '../../kernel/json.ts';
import { counted } from '../../kernel/text.ts';
import { allow, deny } from '../../kernel/verdict.ts';
import { UsageError } from '../../workspace/locate.ts';
import type { Operation } from './table.ts';

export const loadoutTry: Operation<'loadout.try'> = async (
  _workspace,
  { document: written, request = 'the request of the cast', answers: given = [], toEnd = false, brief },
) => {
  const document = documentIn(written);
  if (brief !== undefined) {
    const text = briefOf(document, brief, request);
    if (text !== null) return allow(`the brief of ${brief}`, { brief: text });
    return deny('INVALID_CONFIG', `no cast comes to ${brief} yet: repair the errors, and lead an edge to it`);
  }
  const start = playTrial(document, { request, answers: answersIn(given) }, toEnd);
  if (!start.ok) {
    const [first] = start.issues;
    const reason = `${counted(start.issues.length, 'error')} to repair first: ${first?.path}: ${first?.message}`;
    return deny(first?.code ?? 'INVALID_CONFIG', reason, { issues: start.issues.map((issue) => ({ ...issue })) });
  }
  const { trial } = start;
  return allow(`${counted(trial.done.length, 'step')} played`, { trial: trial as unknown as Json });
};

/** A draft as a page sends it. Whether it is sound is for the checks. */
function documentIn(value: Json): EditorDocument {
  const { name, config, files = {} } = isObject(value) ? value : ({} as JsonObject);
  if (!isText(name) || !isObject(config) || !isObject(files) || !Object.values(files).every(isString))
    throw new UsageError('document must be {"name", "config", "files"}, where files are texts by name');
  const foreign = Object.keys(isObject(config.materia) ? config.materia : {});
  return { name, config, foreign, files: files as Readonly<Record<string, string>> };
}

function answersIn(value: Json): readonly TrialAnswer[] {
  const isAnswer = (each: Json): boolean =>
    isObject(each) && isString(each.socket) && (each.text === null || isString(each.text));
  if (!Array.isArray(value) || value.length > TRIAL_ANSWERS_MAX || !value.every(isAnswer))
    throw new UsageError(`answers must be a list of at most ${TRIAL_ANSWERS_MAX} of {"socket", "text"}`);
  return value as unknown as readonly TrialAnswer[];
}
