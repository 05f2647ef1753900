import { AppError } from '../../src/domain/errors.ts';
import type { WireObject } from '../../src/domain/json/json.ts';
import type { Page, PageRequest } from '../../src/domain/page.ts';
import { CallFeed } from '../../src/features/plugins/host/call-feed.ts';
import type {
  PluginAnswer,
  PluginHost,
  PluginHostStatus,
  PluginRequest,
  PluginUsage,
} from '../../src/features/plugins/host/plugin-host.ts';
import { type PluginEntry, undeclaredPluginEntry } from '../../src/features/plugins/records/plugin.ts';

/** A host with one plugin, `echo`, that answers with its request; or with no plugin. */
export class FakePluginHost implements PluginHost {
  readonly #ids: readonly string[];
  readonly ended = new CallFeed();
  calls: { pluginId: string; request: PluginRequest; signal: AbortSignal }[] = [];
  /** What a call does; a test may make it wait. */
  onCall: (request: PluginRequest, signal: AbortSignal) => Promise<PluginAnswer> = async (request) => ({
    status: 200,
    body: JSON.stringify({ success: true, data: request, error: null }),
  });

  constructor(ids: readonly string[] = ['echo']) {
    this.#ids = ids;
  }

  prepare(): void {}

  async start(): Promise<void> {}

  async call(pluginId: string, request: PluginRequest, signal: AbortSignal): Promise<PluginAnswer> {
    this.#known(pluginId);
    this.calls.push({ pluginId, request, signal });
    return this.onCall(request, signal);
  }

  isDurable(): boolean {
    return false;
  }

  async list({ page, perPage }: PageRequest, among?: readonly string[]): Promise<Page<WireObject>> {
    const all = this.#ids.filter((id) => among?.includes(id) !== false).map((id) => viewOf(id));
    return { items: all.slice((page - 1) * perPage, page * perPage), total: all.length };
  }

  async get(id: string): Promise<WireObject> {
    return viewOf(this.#known(id));
  }

  declared(id: string): PluginEntry {
    return undeclaredPluginEntry(this.#known(id), 'echo.ts');
  }

  reloaded: string[] = [];

  async reload(id: string): Promise<void> {
    this.reloaded.push(this.declared(id).id);
  }

  logs(id: string): Page<{ request_id: string }> {
    this.declared(id);
    return { items: [{ request_id: 'request-1' }], total: 1 };
  }

  applySettings(): void {}

  async declare(): Promise<void> {}

  usage(): PluginUsage {
    return { totals: [], heapPeaks: new Map() };
  }

  status(): PluginHostStatus {
    return {
      threads: 1,
      processes: 0,
      running: 0,
      queued: 0,
      uses: [],
      confinement: undefined,
      startFailure: null,
      plugins: [],
    };
  }

  async close(): Promise<void> {}

  #known(id: string): string {
    if (!this.#ids.includes(id)) throw new AppError('PLUGIN_NOT_FOUND', { id });
    return id;
  }
}

function viewOf(id: string): WireObject {
  return { id, permissions: { relayers: {} } };
}
