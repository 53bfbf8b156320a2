"""The Gemini API: reads `generateContent` requests and answers them."""
