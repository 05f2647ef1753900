// Threat: somebody who does not know the secret has a plugin called, or somebody who heard a webhook delivers it again.
import { createHmac } from 'node:crypto';
import t from 'tap';
import { verifyWebhook } from '../../../../../src/features/triggers/signature.ts';

const SECRET = 'a secret that is long enough to be one';
const BODY = '{"id":"evt_1","amount":1.0 }';
const NOW = Date.parse('2026-11-27T12:00:00Z');
const SECONDS = String(NOW / 1000);

function hmac(text: string, encoding: 'hex' | 'base64' = 'hex', secret = SECRET): string {
  return createHmac('sha256', secret).update(text).digest(encoding);
}

function verify(headers: Record<string, string>, { body = BODY, now = NOW, secret = SECRET } = {}) {
  return verifyWebhook({ body: Buffer.from(body), header: (name) => headers[name] }, secret, now);
}

/** The headers that each kind of sender sends at a time. */
const SENDERS: Record<string, (body: string, seconds: string) => Record<string, string>> = {
  'Standard Webhooks': (body, seconds) => ({
    'webhook-id': 'msg_1',
    'webhook-timestamp': seconds,
    'webhook-signature': `v1,AAAA v1a,x v1,${hmac(`msg_1.${seconds}.${body}`, 'base64')}`,
  }),
  Stripe: (body, seconds) => ({
    'stripe-signature': `t=${seconds},v0=x,v1=${hmac('another secret')},v1=${hmac(`${seconds}.${body}`)}`,
  }),
  'Stripe-like': (body, seconds) => ({ 'x-signature': `t=${seconds}, v1=${hmac(`${seconds}.${body}`)}` }),
  GitHub: (body) => ({ 'x-hub-signature-256': `sha256=${hmac(body)}`, 'x-github-delivery': 'd-1' }),
  'OpenZeppelin Monitor': (body, seconds) => ({
    'x-signature': hmac(`${body}${seconds}000`),
    'x-timestamp': `${seconds}000`,
  }),
  'plain hex': (body) => ({ 'x-signature': hmac(body) }),
  'plain base64': (body) => ({ 'x-signature': hmac(body, 'base64') }),
};
const TIMED = ['Standard Webhooks', 'Stripe', 'Stripe-like', 'OpenZeppelin Monitor'];

for (const [sender, sign] of Object.entries(SENDERS)) {
  t.test(sender, async (t) => {
    const headers = sign(BODY, SECONDS);
    const marks = verify(headers);
    t.ok(marks, 'is right');
    t.strictSame(verify(headers), marks, 'a delivery that is repeated is known again');
    t.equal(verify(headers, { body: `${BODY} ` }), undefined, 'another body');
    t.equal(verify(headers, { secret: 'another' }), undefined, 'another secret');
    for (const [name, value] of Object.entries(headers)) {
      if (/id|delivery/.test(name) && name !== 'webhook-id') continue;
      t.equal(verify({ ...headers, [name]: value.slice(0, -1) }), undefined, `${name} cut off`);
      t.equal(verify({ ...headers, [name]: '' }), undefined, `${name} empty`);
    }
    const late = verify(headers, { now: NOW + 301_000 });
    const early = verify(headers, { now: NOW - 301_000 });
    if (TIMED.includes(sender)) t.strictSame([late, early], [undefined, undefined], 'too old, and from the future');
    else t.ok(late && early, 'no time is signed');
    t.ok(verify(headers, { now: NOW + 299_000 }));
  });
}

t.test('the time is part of what is signed', async (t) => {
  const old = String(NOW / 1000 - 3600);
  for (const sender of TIMED) {
    const headers = SENDERS[sender]?.(BODY, old) ?? {};
    const moved = Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [name, value.replace(old, SECONDS)]),
    );
    t.equal(verify(moved), undefined, sender);
  }
});

t.test('a sender that repeats with another time, and one that tells the same again', async (t) => {
  const later = String(NOW / 1000 + 60);
  const marksOf = (sender: string, seconds: string, body = BODY) =>
    verify(SENDERS[sender]?.(body, seconds) ?? {}, { body });
  for (const sender of ['Standard Webhooks', 'Stripe', 'Stripe-like', 'GitHub', 'plain hex']) {
    t.strictSame(marksOf(sender, later), marksOf(sender, SECONDS), sender);
  }
  t.not(marksOf('OpenZeppelin Monitor', later)?.[0], marksOf('OpenZeppelin Monitor', SECONDS)?.[0], 'has no ids');
  t.not(marksOf('GitHub', SECONDS, '{}')?.[0], marksOf('GitHub', SECONDS)?.[0]);
  t.equal(marksOf('GitHub', SECONDS, '{}')?.[1], marksOf('GitHub', SECONDS)?.[1], 'the same delivery id');
  const other = { ...SENDERS['GitHub']?.(BODY, SECONDS), 'x-github-delivery': 'd-2' };
  t.equal(verify(other)?.[0], marksOf('GitHub', SECONDS)?.[0], 'an id that nobody signed makes no other delivery');
});

t.test('a delivery with a signed time is not taken as one of a scheme without a time', async (t) => {
  const later = NOW + 86_400_000;
  for (const text of [`msg_1.${SECONDS}.${BODY}`, `${SECONDS}.${BODY}`, `${BODY}${SECONDS}000`]) {
    const hub = { 'x-hub-signature-256': `sha256=${hmac(text)}` };
    t.equal(verify(hub, { body: text, now: later }), undefined, text);
    t.equal(verify({ 'x-signature': hmac(text) }, { body: text, now: later }), undefined, text);
  }
});

t.test('a secret of Standard Webhooks is base64 behind its prefix', async (t) => {
  const secret = `whsec_${Buffer.from(SECRET).toString('base64')}`;
  t.ok(verify(SENDERS['Standard Webhooks']?.(BODY, SECONDS) ?? {}, { secret }));
  // nextlyhq/nextly #227: the reference libraries take the same base64 without the prefix.
  t.ok(verify(SENDERS['Standard Webhooks']?.(BODY, SECONDS) ?? {}, { secret: secret.slice(6) }));
  // sandbaseai/sandbase-harness #256: a secret without the prefix may be the key itself.
  const plain = 'QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVo0NTY3ODkwMQ==';
  const signature = createHmac('sha256', plain).update(`msg_1.${SECONDS}.${BODY}`).digest('base64');
  const headers = { 'webhook-id': 'msg_1', 'webhook-timestamp': SECONDS, 'webhook-signature': `v1,${signature}` };
  t.ok(verify(headers, { secret: plain }));
  t.equal(verify({ ...headers, 'webhook-signature': `v1,${hmac('x', 'base64')}` }, { secret: plain }), undefined);
});

t.test('public reports of webhooks that were refused, or taken twice', async (t) => {
  const right = hmac(`${SECONDS}.${BODY}`);
  const other = hmac(`${SECONDS}.${BODY}`, 'hex', 'the secret before the rotation');
  // profullstack/sh1pt #480 and #530, Significant-Gravitas/AutoGPT #13435: any signature of the header may be right.
  for (const signatures of [`v1=${right},v1=${other}`, `v1=${other},v1=${right}`, `v0=${other}, v1=${right}`]) {
    t.ok(verify({ 'stripe-signature': `t=${SECONDS},${signatures}` }), signatures);
  }
  // profullstack/sh1pt #856: a time that is no number is not fresh.
  for (const time of ['Infinity', '-1', '9'.repeat(16), '']) {
    t.equal(verify({ 'stripe-signature': `t=${time},v1=${hmac(`${time}.${BODY}`)}` }), undefined, time);
  }
  // prathamdby/pr-agent #476, ShipfoxHQ/shipfox #709, 2witstudios/PageSpace #2199: an id that is not signed is exchanged.
  const github = { 'x-hub-signature-256': `sha256=${hmac(BODY)}` };
  const [first, ...ids] = verify({ ...github, 'x-github-delivery': 'd-1' }) ?? [];
  const again = verify({ ...github, 'x-github-delivery': 'd-2' }) ?? [];
  t.equal(again[0], first, 'the content tells that it is the same');
  t.notOk(ids.some((id) => again.includes(id as never)));
});

t.test('what is no signature', async (t) => {
  for (const headers of [
    {},
    { 'x-signature': hmac(BODY, 'hex', '') },
    { 'x-signature': 'sha256=' },
    { 'x-signature': `t=${SECONDS}` },
    { 'x-signature': 't=,v1=' },
    { 'x-signature': `t=1e9,v1=${hmac(`1e9.${BODY}`)}` },
    { 'x-signature': hmac(`${BODY}NaN`), 'x-timestamp': 'NaN' },
    { 'x-hub-signature-256': hmac(BODY) },
    { 'x-hub-signature': `sha1=${createHmac('sha1', SECRET).update(BODY).digest('hex')}` },
    { 'webhook-signature': `v1,${hmac(`.${SECONDS}.${BODY}`, 'base64')}`, 'webhook-timestamp': SECONDS },
    // The first header decides: a right signature of another kind beside it changes nothing.
    { 'webhook-signature': 'v1,x', 'x-signature': hmac(BODY) },
    { 'x-hub-signature-256': 'sha256=00', 'x-signature': hmac(BODY) },
  ]) {
    t.equal(verify(headers), undefined, JSON.stringify(headers));
  }
});
