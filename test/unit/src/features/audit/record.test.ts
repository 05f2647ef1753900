import { readFileSync } from 'node:fs';
import t from 'tap';
import { RESOURCE_PATHS } from '../../../../../src/features/api-keys/records/access.ts';
import { auditActionSchema, auditedResourceSchema } from '../../../../../src/features/audit/record.ts';

const GUIDE = readFileSync(new URL('../../../../../docs/api.md', import.meta.url), 'utf8');

t.test('the guide lists every resource and every action that audit records name', async (t) => {
  const table = GUIDE.split('| `resource` | `action` |')[1]?.split('\n\n')[0] ?? '';
  const listed = [...table.matchAll(/`(\w+)`/g)].map(([, name]) => name);
  const byPath = Object.entries(RESOURCE_PATHS).filter(([name, path]) => path.replaceAll('-', '_').startsWith(name));
  const known = [...listed, ...byPath.map(([name]) => name)];
  t.strictSame(new Set(known), new Set([...auditedResourceSchema.options, ...auditActionSchema.options]));
});
