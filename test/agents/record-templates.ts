// Records one run of each template with a real agent program: `node test/agents/record-templates.ts`. The programs are installed by
// `npm install --no-save --prefix test/agents/cli`.
import { assertInstalled } from './contenders.ts';
import { keep, RECORDED, recorded } from './template-runs.ts';

assertInstalled();
for (const template of RECORDED) {
  const recording = await recorded(template);
  keep(recording);
  console.log(`${template}: ${recording.outcome.status}, ${Object.keys(recording.outcome.files).length} files`);
}
