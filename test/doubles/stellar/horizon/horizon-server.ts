import { BrokenAnswer, FaultError, type Faults } from '../../counterpart/faults.ts';
import { type Answer, type Asked as Call, LoopbackServer } from '../../counterpart/loopback-server.ts';
import type { View } from '../rpc/view.ts';
import { chainRoutes } from './chain-routes.ts';
import { marketRoutes } from './market-routes.ts';
import { notHere, PROBLEMS, Problem } from './problem.ts';
import type { Route } from './route.ts';
import { transactionRoutes } from './transaction-routes.ts';

const ROUTES: readonly Route[] = [...chainRoutes, ...transactionRoutes, ...marketRoutes];

/** Routes that Horizon has and this network does not model. An empty answer would be false. */
const ABSENT = /\/(operations|payments|effects|trades|offers|assets|claimable_balances|liquidity_pools)(\/|$)/;

/** Horizon over one node's view. */
export class HorizonServer {
  readonly #view: View;
  readonly #faults: Faults;
  readonly #count: (name: string) => void;
  readonly #server = new LoopbackServer((call) => this.#answer(call));

  constructor(view: View, faults: Faults, count: (name: string) => void) {
    this.#view = view;
    this.#faults = faults;
    this.#count = count;
  }

  /** Resolves with the server's URL. */
  listen(): Promise<string> {
    return this.#server.listen();
  }

  async #answer(call: Call): Promise<Answer> {
    try {
      const { status, resource } = await this.#perform(call);
      return { status, type: 'application/hal+json; charset=utf-8', body: JSON.stringify(resource, null, 2) };
    } catch (error) {
      if (error instanceof BrokenAnswer) throw error;
      const problem = problemOf(error);
      const body = JSON.stringify(problem.body(), null, 2);
      return { status: problem.status, type: 'application/problem+json; charset=utf-8', body };
    }
  }

  async #perform({ method, url, headers, body }: Call): Promise<{ status: number; resource: unknown }> {
    const path = url.pathname.replace(/(?<=.)\/+$/, '');
    const { route, parts } = routeTo(method, path);
    if (headers.accept?.includes('text/event-stream')) throw new Problem(PROBLEMS.notAcceptable);
    const name = `horizon.${route.name}`;
    this.#count(name);
    const [form = ''] = (headers['content-type'] ?? '').split(';');
    const params = new URLSearchParams([...new URLSearchParams(method === 'POST' ? body : ''), ...url.searchParams]);
    const base = `http://${headers.host}`;
    const asked = { view: this.#view, base, path, parts, params, form: form.trim() };
    const resource = await this.#faults.during(name, () => route.answer(asked));
    return { status: route.statusOf?.(resource) ?? 200, resource };
  }
}

/** @throws Problem if no route fits */
function routeTo(method: string, path: string): { route: Route; parts: Record<string, string> } {
  for (const route of ROUTES) {
    const parts = route.method === method ? partsOf(route.path, path) : undefined;
    if (parts !== undefined) return { route, parts };
  }
  throw ABSENT.test(path) || path === '/accounts' ? notHere(path) : new Problem(PROBLEMS.notFound);
}

/** The named segments of a path that fits the pattern. */
function partsOf(pattern: string, path: string): Record<string, string> | undefined {
  const [wanted, given] = [pattern.split('/'), path.split('/')];
  if (wanted.length !== given.length) return undefined;
  const parts: Record<string, string> = {};
  for (const [index, segment] of wanted.entries()) {
    const found = given[index] ?? '';
    if (segment.startsWith(':')) parts[segment.slice(1)] = decodeURIComponent(found);
    else if (segment !== found) return undefined;
  }
  return parts;
}

function problemOf(error: unknown): Problem {
  if (error instanceof Problem) return error;
  // A fault has a status, and the type of the problem instead of a message.
  if (error instanceof FaultError) return new Problem([error.message, error.message, error.code, ''], error.data ?? {});
  return new Problem([...PROBLEMS.serverError], { error: String(error) });
}
