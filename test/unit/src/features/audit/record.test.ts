import { readFileSync } from 'node:fs';
import t from 'tap';
import { auditActionSchema, auditedResourceSchema } from '../../../../../src/features/audit/record.ts';

const GUIDE = readFileSync(new URL('../../../../../docs/api.md', import.meta.url), 'utf8');

t.test('the guide lists every resource and every action that audit records name', async (t) => {
  const table = GUIDE.split('| `resource` | `action` |')[1]?.split('\n\n')[0] ?? '';
  const listed = [...table.matchAll(/`(\w+)`/g)].map(([, name]) => name);
  t.strictSame(new Set(listed), new Set([...auditedResourceSchema.options, ...auditActionSchema.options]));
});
