// The variables of the environment that an approval is bound to: those that change which code runs or what it works on.
// Where one is not set, that it is not set is bound too.
import type { SealKey } from './seal-key.ts';

export type Variables = Readonly<Record<string, string | undefined>>;

/** `PATH` is not here: the approved one is used, and the programs it leads to are bound themselves. */
const ALWAYS = [
  ...['HOME', 'XDG_CONFIG_HOME', 'IFS', 'ENV', 'BASH_ENV', 'SHELLOPTS', 'BASHOPTS', 'PS4', 'CDPATH', 'GLOBIGNORE'],
  ...['LD_PRELOAD', 'LD_LIBRARY_PATH', 'LD_AUDIT', 'DYLD_INSERT_LIBRARIES', 'DYLD_LIBRARY_PATH', 'GCONV_PATH'],
  ...[
    'NODE_OPTIONS',
    'NODE_PATH',
    'PYTHONPATH',
    'PYTHONSTARTUP',
    'PYTHONHOME',
    'PERL5LIB',
    'PERL5OPT',
    'RUBYOPT',
    'RUBYLIB',
  ],
  ...['JAVA_TOOL_OPTIONS', 'CLASSPATH', 'RUSTC_WRAPPER', 'MAKEFLAGS', 'MAKEFILES', 'NPM_CONFIG_REGISTRY'],
  ...['GIT_DIR', 'GIT_WORK_TREE', 'GIT_INDEX_FILE', 'GIT_SSH', 'GIT_SSH_COMMAND', 'GIT_EXEC_PATH', 'GIT_CONFIG_GLOBAL'],
  ...['GIT_CONFIG_SYSTEM', 'GIT_CONFIG_COUNT', 'GIT_PROXY_COMMAND', 'GIT_EXTERNAL_DIFF', 'GIT_TEMPLATE_DIR'],
  ...['AWS_PROFILE', 'AWS_REGION', 'AWS_DEFAULT_REGION', 'AWS_ACCESS_KEY_ID', 'AWS_CONFIG_FILE', 'AWS_ENDPOINT_URL'],
  ...['KUBECONFIG', 'KUBE_CONTEXT', 'HELM_NAMESPACE', 'HELM_KUBECONTEXT', 'DOCKER_HOST', 'DOCKER_CONTEXT'],
  ...['GOOGLE_APPLICATION_CREDENTIALS', 'CLOUDSDK_CORE_PROJECT', 'CLOUDSDK_ACTIVE_CONFIG_NAME', 'CLOUDSDK_CONFIG'],
  ...['AZURE_CONFIG_DIR', 'ARM_SUBSCRIPTION_ID', 'TF_WORKSPACE', 'TF_CLI_ARGS', 'TF_CLI_CONFIG_FILE', 'TF_DATA_DIR'],
  ...['DATABASE_URL', 'PGHOST', 'PGDATABASE', 'PGSERVICE', 'HTTP_PROXY', 'HTTPS_PROXY', 'http_proxy', 'https_proxy'],
];

/** Families of variables that steer a program as its arguments do; each of them that is set is bound, by whatever name. */
const FAMILIES =
  /^(?:TF_|TOFU_|TG_|TERRAGRUNT_|PULUMI_|GIT_|ANSIBLE_|HELM_|KUBE|DOCKER_|COMPOSE_|BUILDKIT_|CLOUDSDK_|ARM_|AZURE_|PG|MYSQL_|PIP_|UV_|POETRY_|TWINE_|npm_config_|NPM_CONFIG_|YARN_|CARGO_|RUSTC|RUSTFLAGS|GO[A-Z]+$|CGO_|GNUMAKEFLAGS|MAKE|MAVEN_|GRADLE_|JAVA_|JDK_|LD_|DYLD_|PYTHON|PERL|RUBY|BUNDLE_|GEM_|NODE_|DENO_|BUN_|SSH_ASKPASS|FLUX_|ARGOCD_|VAULT_|CONSUL_|NOMAD_)/;
/** Members that tools and terminals set on their own, and the secret of the attempt. They are not handed on to what is approved. */
const TAKEN_OUT =
  /^(?:BATON_ATTEMPT_KEY|BASH_FUNC_.*|GIT_EDITOR|GIT_SEQUENCE_EDITOR|GIT_PAGER|GIT_TERMINAL_PROMPT|GIT_ASKPASS|NODE_CHANNEL_.*|NODE_UNIQUE_ID|NODE_V8_COVERAGE)$/;

/** The names of the families that are set. */
export function familiesIn(env: Variables): readonly string[] {
  return Object.keys(env).filter((name) => env[name] !== undefined && FAMILIES.test(name) && !TAKEN_OUT.test(name));
}

/** The environment without what an approved command must not be given: functions for every shell, and other programs to run. */
export function withoutTaken<T extends Variables>(env: T): T {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !TAKEN_OUT.test(name))) as T;
}

/** The names that are bound: those that always are, those of the policy, those of the request, in order. */
export function boundNames(env: Variables, ...more: readonly (readonly string[])[]): readonly string[] {
  return [...new Set([...ALWAYS, ...familiesIn(env), ...more.flat()])].sort();
}

/** The mark of each variable's value, or null where it is not set. */
export function marksOf(
  names: readonly string[],
  env: Variables,
  key: SealKey,
): Readonly<Record<string, string | null>> {
  return Object.fromEntries(
    names.map((name) => {
      const value = env[name];
      return [name, value === undefined ? null : key.mark(`env:${name}`, value)];
    }),
  );
}
