// The skill file for Claude Code and agents like it. The file is all ours: one of somebody else is left alone.
import { deny } from '../../kernel/verdict.ts';
import type { Host } from './host.ts';
import { MARK, SKILL, skillText } from './skill-text.ts';

export const skillHost: Host = {
  name: 'claude --skill',
  files: [`.claude/skills/${SKILL}/SKILL.md`],
  notes: ['Claude Code reads skills when a session begins.'],
  add(file, text) {
    if (text !== null)
      return deny('NOT_ALLOWED_NOW', `${file} is somebody else's; rename or remove it first`, { file });
    return skillText();
  },
  remove: (_, text) => (text.includes(MARK) ? null : text),
};
