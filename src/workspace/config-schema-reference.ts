// What a configuration writes into `$schema`, so that editors know its fields.
import { join, relative, resolve, sep } from 'node:path';

type SchemaReference = {
  readonly $schema: string;
  /** Whether the schema has to be copied beside the configuration, because nothing else that lasts is at hand. */
  readonly copied: boolean;
};

/** The schema as it lies in the package. */
export const SCHEMA_NAME = 'config.schema.json';

/**
 * A package that is installed in the project is pointed at, so that the schema is always that of the installed version.
 * A path to anywhere else would hold on this machine only; the configuration then gets a copy of its own.
 */
export function schemaReference(configDir: string, packageDir: string): SchemaReference {
  const modules = `${sep}node_modules${sep}`;
  const at = packageDir.lastIndexOf(modules);
  const owner = at === -1 ? null : packageDir.slice(0, at);
  if (owner === null || !isWithin(owner, resolve(configDir))) return { $schema: `./${SCHEMA_NAME}`, copied: true };
  const path = relative(configDir, join(packageDir, 'schemas', SCHEMA_NAME));
  return { $schema: path.split(sep).join('/'), copied: false };
}

function isWithin(folder: string, path: string): boolean {
  return path === folder || path.startsWith(folder.endsWith(sep) ? folder : folder + sep);
}
