import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';

/** The running versions. */
export interface BuildInfo {
  version: string;
  node: string;
}

const packageSchema = z.object({ version: z.string() });

/** Returns the version in the service's own `package.json`, and that of Node. */
export function readBuildInfo(): BuildInfo {
  const file = join(import.meta.dirname, '..', '..', 'package.json');
  const { version } = packageSchema.parse(JSON.parse(readFileSync(file, 'utf8')));
  return { version, node: process.versions.node };
}
