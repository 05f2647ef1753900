import { chmod, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import type { KnownSignerKinds } from '../../../../src/config/chain-schemas.ts';
import { checkKeyFiles } from '../../../../src/config/key-files.ts';
import { Findings, textOf } from '../../../../src/config/problems.ts';
import { createSignerKinds } from '../../../../src/signers/registry.ts';

t.test('a keystore that others can read is a warning with the cure, once per file', async (t) => {
  const cwd = t.testdir({ keys: {} });
  for (const [name, mode] of Object.entries({ own: 0o600, group: 0o640, all: 0o644 })) {
    await writeFile(join(cwd, 'keys', name), '{}');
    await chmod(join(cwd, 'keys', name), mode);
  }
  await symlink('own', join(cwd, 'keys', 'link'));
  const signers = ['keys/own', 'keys/link', 'keys/group', join(cwd, 'keys/all'), './keys/all', 'keys/none'].map(
    (path, index) => ({ id: `s${index}`, type: 'local', config: { path } }),
  );
  const findings = new Findings();
  const signerKinds: KnownSignerKinds = createSignerKinds();
  const elsewhere = { id: 'v', type: 'vault', config: {} };
  await checkKeyFiles([...signers, elsewhere], { signerKinds, cwd }, findings);
  t.strictSame(findings.warnings.map(textOf), [
    'keys/group: others on this machine can use this keystore. Keep it to its owner: chmod 600 keys/group',
    'keys/all: others on this machine can use this keystore. Keep it to its owner: chmod 600 keys/all',
  ]);
  t.strictSame(findings.problems, []);
});
