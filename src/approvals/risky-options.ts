// Options with which a program that otherwise only reads or checks writes elsewhere, runs something else, or takes code from
// its command line.
import type { Word } from '../shell/read-line.ts';

/** By program, the options that make it write, run something else or forget where it should look. */
const OPTIONS: Readonly<Record<string, RegExp>> = {
  env: /^(?:-[a-zA-Z]*S|--s)/,
  rg: /^--(?:pre|hostname-bin|search-zip)|^-[a-zA-Z]*z/,
  sort: /^(?:-[a-zA-Z]*[oT]|--o|--comp|--temp|--files0)/,
  tree: /^-[a-zA-Z]*[oR]$|^--output/,
  date: /^(?:-[a-zA-Z]*s|--s)/,
  yq: /^(?:-[a-zA-Z]*[is]|--in|--split|--security)|\bsystem\b/,
  find: /^-(?:delete|fprint|fls|fprintf|ok|execdir|files0-from)/,
  printf: /^-/,
  wait: /^-[a-zA-Z]*p/,
  ag: /^--pager/,
  node: /^(?:-r|--require|--import|--loader|--experimental|-e|--eval|-p|--print|--env-file|--build)/,
  tar: /^(?!-t[zjvJ]*f$)-|:/,
  unzip: /^-(?!l$)/,
  curl: /^-(?!(?:I|s|S|L|sI|sSI|IL|sIL)$)/,
  kustomize: /^(?:-o|--output|--enable|--helm|--load|-e$)/,
  'apt-get': /^(?:-o|--option|-c|--config)/,
  apt: /^(?:-o|--option|-c|--config)/,
  diff: /^--(?:out|to-file=-)/,
  file: /^(?:-[a-zA-Z]*C|--comp)/,
  man: /^(?:-[a-zA-Z]*[PHC]|--pager|--html|--config)/,
  journalctl: /^--(?:vacuum|rotate|flush|sync|setup|update|relinquish|smart)/,
  ss: /^(?:-[a-zA-Z]*[KD]|--kill|--diag)/,
  go: /^--?(?:w|u|o|exec|toolexec|vettool|overlay|modfile|C|compiler|gccgoflags|pkgdir)(?:=|$)|-extld/,
  git: /^(?:-[a-zA-Z]*O|-W)/,
  kubectl: /^(?:--helm|--enable|--load|--kubeconfig|--server|-s$|--as|--token|--exec|--cache-dir|--profile|--log-)/,
  helm: /^(?:--post-renderer|--kubeconfig|--kube-(?:api|as|ca|in|tls|token)|--output-dir|--registry-config|--repository-)/,
  docker: /^(?:-H|--host)/,
  terraform: /^-chdir|^-backend/,
  awk: /^-(?!F.)/,
  gawk: /^-(?!F.)/,
  mawk: /^-(?!F.)/,
  sed: /^-(?![nErs]+$)/,
  eslint: /^(?:-o|--output-file|--resolve-plugins|--rulesdir|-c|--config|--plugin)/,
  prettier: /^--(?:plugin|config)/,
  npm: /^--(?:script-shell|node-options|prefix=\/|globalconfig|userconfig|cache|logs-dir|git$|git=|browser|viewer|editor|shell)/,
  pytest: /^(?:-[pco]|--basetemp|--rootdir|--pdb|--override)/,
  make: /^(?:-f|--file|--makefile|--eval|SHELL=|-e$|--environment)/,
  cargo: /^(?:--config|--manifest-path|--target-dir)/,
  jq: /^--(?:rawfile|from-file)$/,
  xxd: /^-[a-zA-Z]*r/,
  aws: /^--(?:endpoint-url|ca-bundle|no-verify)/,
  gh: /^--(?:web|hostname)/,
  lsof: /^-[a-zA-Z]*D/,
  pip: /^--(?:log(?:=|$|-)|py|ca|cert|client|src)/,
  pip3: /^--(?:log(?:=|$|-)|py|ca|cert|client|src)/,
  systemctl: /^(?:-[a-zA-Z]*[HM]|--host|--machine)/,
  argocd: /^--(?:hard-)?refresh|^--(?:config|server|auth-token|core)/,
  gcloud: /^--(?:flags-file|impersonate)/,
  terragrunt: /^--(?:terragrunt-)?(?:tf-?path|source|working-dir)/,
  cdk: /^(?:-a|--app|--build|--plugin|-p$)/,
  nginx: /^-[a-zA-Z]*[gcpse]/,
  ctest: /^(?:-[SDTM]|--script|--dashboard|--build-and-test|--test-(?:action|model|command)|--build-)/,
  dotnet: /^(?:--?|\/)(?:t|target|r|restore|p|property):(?!Configuration=\w+$)/i,
  deno: /:\/\/|^(?:npm|jsr|data|blob):/,
  pylint: /^--init-hook/,
  mypy: /^--(?:python-e|install-t|non-i)/,
  checkov: /^--(?:external|download|repo-id|bc-api)/,
  conftest: /^(?:-u|--update)/,
  tflint: /^--(?:init|config|chdir)/,
  vitest: /^--(?:api|ui)/,
  playwright: /^--ui/,
};

/** Programs that run another one by its name; what is risky for that one is risky here. */
const RUNS_NAMED: Readonly<Record<string, readonly string[]>> = {
  npx: [],
  python: ['-m'],
  python3: ['-m'],
  bundle: ['exec'],
};

/** The options that matter for a program, or for the one that it is told to run. */
export function optionsOf(program: string, args: readonly Word[]): RegExp | undefined {
  const before = Object.hasOwn(RUNS_NAMED, program) ? RUNS_NAMED[program] : undefined;
  const isNamed = before?.every((word, at) => args[at]?.text === word) === true;
  const runs = isNamed ? (args[before?.length ?? 0]?.text ?? '') : program;
  return Object.hasOwn(OPTIONS, runs) ? OPTIONS[runs] : undefined;
}
