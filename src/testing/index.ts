// The test kit: a scripted model on loopback, for our tests and for other people's.
export { type ModelServer, type ModelServerOptions, modelServer } from './model-server.ts';
export type {
  Answers,
  Cut,
  Failed,
  FinishedAnswer as Said,
  Message,
  ModelRequest,
  Protocol,
  ScriptedAnswer as Answer,
  Stalled,
  Tokens,
  ToolCall,
} from './script.ts';
