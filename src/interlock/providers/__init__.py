"""Models that can be asked: the providers' addresses, keys and transport under the port that the loop knows."""

from interlock.providers.anthropic import AnthropicMessages
from interlock.providers.bedrock import Bedrock
from interlock.providers.gemini import Gemini
from interlock.providers.named import model_of
from interlock.providers.openai import OpenAIChat, OpenAIResponses
from interlock.providers.transport import Patience

__all__ = ["AnthropicMessages", "Bedrock", "Gemini", "OpenAIChat", "OpenAIResponses", "Patience", "model_of"]
