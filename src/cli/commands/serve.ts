// `baton serve`: the server of the workspace, until a signal ends it.
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { type Call, EXIT_CODE, flag, note, outJson, text, UsageError } from '../command.ts';
import { portIn, untilSignal, type Where } from '../listen.ts';
import { withWorkspace } from '../open-workspace.ts';
import { serving } from '../serving.ts';

export function run(call: Call): Promise<number> {
  const where = whereOf(call);
  return withWorkspace(call, (workspace) =>
    serving(call, workspace, where, async ({ url, token, isNewToken }) => {
      note(`Baton serves ${workspace.dir} at ${url}`);
      // The token is told once and written nowhere.
      if (isNewToken) note(`Page: ${url}/#token=${token}`);
      if (call.json) outJson({ url, ...(isNewToken ? { token } : {}) });
      await untilSignal();
      return EXIT_CODE.ok;
    }),
  );
}

/** Beyond this machine, what is sent must be readable for nobody else: by TLS here, or by a proxy that does it. */
function whereOf(call: Call): Where {
  const { values } = call;
  const given = text(values, 'port');
  const [host, cert, key, publicUrl] = ['host', 'tls-cert', 'tls-key', 'public-url'].map((name) => text(values, name));
  const isBehindProxy = flag(values, 'behind-proxy');
  if ((cert === undefined) !== (key === undefined)) throw new UsageError('--tls-cert and --tls-key go together');
  if (publicUrl !== undefined && !/^https:\/\/[^/?#\s]+\/?$/.test(publicUrl))
    throw new UsageError(`--public-url must be an address such as https://baton.example.org, not ${publicUrl}`);
  const isBeyond = host !== undefined && !['127.0.0.1', 'localhost'].includes(host);
  if (isBeyond && cert === undefined && !isBehindProxy)
    throw new UsageError(`--host ${host} is beyond this machine: give --tls-cert and --tls-key, or --behind-proxy`);
  if ((isBeyond || isBehindProxy) && publicUrl === undefined)
    throw new UsageError('give --public-url: the address by which the server is called; any other name is refused');
  return {
    ...(given === undefined ? {} : { port: portIn('port', given) }),
    ...(isBeyond ? { host } : {}),
    ...(cert === undefined || key === undefined ? {} : { tls: { cert: fileOf(call, cert), key: fileOf(call, key) } }),
    ...(publicUrl === undefined ? {} : { publicUrl: publicUrl.replace(/\/$/, '') }),
    ...(isBehindProxy ? { isBehindProxy } : {}),
  };
}

function fileOf({ cwd }: Call, name: string): string {
  try {
    return readFileSync(resolve(cwd, name), 'utf8');
  } catch (error) {
    throw new UsageError(`${name} cannot be read (${(error as Error).message})`);
  }
}
