import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { readBuildInfo } from '../../../../src/observability/build-info.ts';

t.test('the version is that of the package, and Node says its own', (t) => {
  const file = join(import.meta.dirname, '..', '..', '..', '..', 'package.json');
  const { version } = JSON.parse(readFileSync(file, 'utf8'));
  t.strictSame(readBuildInfo(), { version, node: process.versions.node });
  t.match(version, /^\d+\.\d+\.\d+/);
  t.end();
});
