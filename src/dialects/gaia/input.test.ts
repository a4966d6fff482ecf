import { expect, test } from 'vitest';
import type { JsonObject } from '../../kernel/json.ts';
import { consolidationRequired } from './input.ts';

const REQUIRED_ROWS: [JsonObject | null, boolean][] = [
  [null, false],
  [{}, false],
  [{ agent_contract_handoff: { consolidation_required: true } }, true],
  [{ agent_contract_handoff: { cross_check_required: true } }, true],
  [{ investigation_brief: { consolidation_required: true } }, true],
  [{ investigation_brief: { cross_check_required: 1 } }, true],
  [{ surface_routing: { multi_surface: true } }, true],
  [{ surface_routing: { multi_surface: 'false' } }, true],
  [{ surface_routing: { multi_surface: 0 } }, false],
  [{ surface_routing: { multi_surface: '' } }, false],
  [{ surface_routing: { multi_surface: [] } }, false],
  [{ surface_routing: { active_surfaces: ['a', 'b'] } }, false],
  [{ surface_routing: 'multi_surface', agent_contract_handoff: null }, false],
];

test.each(REQUIRED_ROWS)('the INPUT %j asks for consolidation: %j', (input, required) => {
  expect(consolidationRequired(input)).toBe(required);
});
