import t from 'tap';
import { allowsOrigin, apiKeyCreateSchema } from '../../../../../src/domain/settings/api-key.ts';

const BODY = { name: 'Payments', permissions: ['relayers:a:send'] };

t.test('a name and permissions are enough', (t) => {
  t.ok(apiKeyCreateSchema.safeParse(BODY).success);
  const whole = {
    ...BODY,
    allowed_origins: ['*', 'https://app.example', 'http://localhost:3000'],
    expires_at: '2030-01-01T00:00:00+02:00',
    rate_limit: { requests_per_second: 5, burst: 10 },
  };
  t.ok(apiKeyCreateSchema.safeParse(whole).success);
  t.ok(apiKeyCreateSchema.safeParse({ ...BODY, allowed_origins: null, expires_at: null, rate_limit: null }).success);
  t.end();
});

t.test('what is wrong is refused', (t) => {
  for (const change of [
    { name: '' },
    { permissions: [] },
    { permissions: ['cats:read'] },
    { permissions: [`relayers:${'x'.repeat(200)}:read`] },
    { permissions: Array(201).fill('*') },
    { allowed_origins: [] },
    { allowed_origins: ['https://app.example/path'] },
    { allowed_origins: ['app.example'] },
    { expires_at: 'tomorrow' },
    { expires_at: 5 },
    { rate_limit: { requests_per_second: 0, burst: 1 } },
    { rate_limit: { requests_per_second: 1 } },
    { key: 'mine' },
  ]) {
    t.notOk(apiKeyCreateSchema.safeParse({ ...BODY, ...change }).success, JSON.stringify(change).slice(0, 80));
  }
  t.end();
});

t.test('an origin is let in by its name, or where any is', (t) => {
  t.ok(allowsOrigin(['https://a.example'], 'https://a.example'));
  t.ok(allowsOrigin(['*'], 'https://a.example'));
  t.notOk(allowsOrigin(['https://a.example'], 'https://a.example:444'));
  t.notOk(allowsOrigin(['https://a.example'], '*'));
  t.end();
});
