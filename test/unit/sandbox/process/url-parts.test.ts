/** Threat: a guest whose URL means one host to it and another to who checks it. */
import t from 'tap';
import { answerUrlQuestion } from '../../../../sandbox/process/url-parts.ts';

const ask = (question: unknown): Record<string, string> | '' => {
  const text = answerUrlQuestion(JSON.stringify(question));
  return text === '' ? '' : (JSON.parse(text) as Record<string, string>);
};

t.test('a URL is taken apart as the standard says', async (t) => {
  t.same(ask({ url: '../b?c#d', base: 'https://user:pw@EXAMPLE.com:8443/a/x' }), {
    href: 'https://user:pw@example.com:8443/b?c#d',
    origin: 'https://example.com:8443',
    protocol: 'https:',
    username: 'user',
    password: 'pw',
    host: 'example.com:8443',
    hostname: 'example.com',
    port: '8443',
    pathname: '/b',
    search: '?c',
    hash: '#d',
  });
  t.match(ask({ url: 'http://0x7f.1/' }), { hostname: '127.0.0.1' });
});

t.test('a part is set as the standard says', async (t) => {
  t.match(ask({ href: 'https://a.example/', set: 'pathname', value: 'x y' }), { href: 'https://a.example/x%20y' });
  t.match(ask({ href: 'https://a.example/', set: 'protocol', value: 'data' }), { href: 'https://a.example/' });
  t.match(ask({ href: 'https://a.example/', set: 'origin', value: 'https://b.example' }), { host: 'a.example' });
});

t.test('what is no URL, no part or no question has no answer', async (t) => {
  t.equal(ask({ url: 'nowhere' }), '');
  t.equal(ask({ href: 'https://a.example/', set: 'href', value: 'nowhere' }), '');
  t.match(ask({ href: 'https://a.example/', set: 'constructor', value: 'x' }), { href: 'https://a.example/' });
  t.equal(ask(null), '');
  t.equal(answerUrlQuestion('{'), '');
});
