import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { KnownSignerKinds } from './chain-schemas.ts';
import type { SignerEntry } from './configuration.ts';
import { shownPath } from './json-file.ts';
import type { Findings } from './problems.ts';

/**
 * Warns of each key file that other users of the machine can read. A missing file is skipped; opening it reports that.
 */
export async function checkKeyFiles(
  signers: readonly SignerEntry[],
  { signerKinds, cwd }: { signerKinds: KnownSignerKinds; cwd: string },
  findings: Findings,
): Promise<void> {
  const named = signers.map(({ type, config }) => signerKinds.get(type)?.fileOf?.(config));
  const paths = new Set(named.filter((path) => path !== undefined).map((path) => resolve(cwd, path)));
  for (const path of paths) {
    const mode = (await stat(path).catch(() => undefined))?.mode ?? 0;
    if ((mode & 0o077) === 0) continue;
    const file = shownPath(cwd, path);
    findings.warn(file, '', 'others on this machine can use this keystore', `Keep it to its owner: chmod 600 ${file}`);
  }
}
