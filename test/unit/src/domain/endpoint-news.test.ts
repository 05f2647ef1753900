import t from 'tap';
import { ENDPOINT_STATES, type EndpointNews, type EndpointState } from '../../../../src/domain/endpoint-news.ts';

t.test('whoever is told to be left alone has a state of that name', (t) => {
  const left: Exclude<EndpointNews['kind'] & EndpointState, never>[] = ['paused', 'limited', 'unfit'];
  t.strictSame(
    ENDPOINT_STATES.filter((state) => state !== 'ready'),
    left,
  );
  t.end();
});
