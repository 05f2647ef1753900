import t from 'tap';
import { auditActionSchema, auditedResourceSchema } from '../../../../../src/domain/settings/audit.ts';

t.test('what clients can change is audited under one name each', async (t) => {
  t.strictSame(auditedResourceSchema.options, [
    'relayer',
    'notification',
    'delivery',
    'transaction',
    'network',
    'signer',
    'plugin',
    'api_key',
  ]);
  t.strictSame(auditActionSchema.options, ['create', 'update', 'delete', 'redeliver', 'send', 'replace', 'cancel']);
  t.notOk(auditedResourceSchema.safeParse('sign').success);
});
