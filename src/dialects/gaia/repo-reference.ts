// How knowledge points at a resource in another repository; the same rule in a payload that is checked and in one that
// is stored.
export { normaliseReference, normaliseRemoteUrl } from '../../kernel/knowledge/repo-reference.ts';
