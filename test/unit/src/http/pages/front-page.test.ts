import t from 'tap';
import { frontPage } from '../../../../../src/http/pages/front-page.ts';

t.test('each part is told with its state, and nothing else', async (t) => {
  const html = frontPage({
    ready: false,
    status: 'unhealthy',
    components: { store: { status: 'unhealthy', error: '<b>no disk</b>' }, plugins: { status: 'healthy' } },
    timestamp: '2026-11-22T00:00:00.000Z',
  });
  t.match(html, 'It is <strong class="unhealthy">unhealthy</strong>');
  t.match(html, '<td>store</td><td><span class="unhealthy">unhealthy</span></td>');
  t.notMatch(html, 'no disk', 'the page needs no key');
  t.match(html, '<td>plugins</td><td><span class="healthy">healthy</span></td>');
});
