// Tries every way in which a person is told of a cast.
import { allow, deny } from '../../kernel/verdict.ts';
import { notifySettings, sampleNotice, sendNotice } from '../driving/notify.ts';
import type { Operation } from './table.ts';

const EXAMPLE = '"notify": {"bell": true, "desktop": true}';

export const tryNotify: Operation<'notify'> = async (workspace, _input, { onEvent }) => {
  const settings = notifySettings(workspace);
  if (!settings) {
    const reason = `${workspace.configFile} sets up no notification that can be read; write ${EXAMPLE} there, and look with \`${workspace.program} check\``;
    return deny('BAD_USAGE', reason, {});
  }
  const sent = await sendNotice(sampleNotice(workspace), settings, workspace, () => onEvent({ kind: 'bell' }));
  const details = { file: settings.file, on: [...settings.on], sent: sent.map((each) => ({ ...each })) };
  const failed = sent.flatMap(({ sink, why }) => (why === null ? [] : [`notify.${sink}: ${why}`]));
  if (sent.length === 0)
    return deny('BAD_USAGE', `notify in ${settings.file} names no way to tell you; write ${EXAMPLE}`, details);
  if (failed.length > 0) return deny('NOT_ALLOWED_NOW', `${failed.join('; ')} (in ${settings.file})`, details);
  return allow(`told by ${sent.map(({ sink }) => sink).join(', ')}`, details);
};
